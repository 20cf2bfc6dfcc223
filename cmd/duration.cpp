#include "cmd/duration.h"

#include <array>

#include "core/text/number.h"

namespace navtalk::cmd {

std::optional<Duration> parse_duration(std::string_view text) {
  const auto number = take_number<double>(text);
  if (!number || text.size() != 1 || *number < 0 || *number > 1e6) return std::nullopt;
  constexpr std::string_view k_units = "smhd";
  constexpr std::array<double, 4> k_seconds = {1, 60, 3600, 86400};
  const std::size_t unit = k_units.find(text.front());
  if (unit == std::string_view::npos) return std::nullopt;
  return from_seconds(*number * k_seconds.at(unit));
}

}  // namespace navtalk::cmd
