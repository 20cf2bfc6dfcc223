#include "core/base/frame_rate.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/text/number.h"

namespace navtalk {
namespace {

// Wide enough for any number of frames times any rate.
__extension__ typedef __int128 Wide;

constexpr std::int64_t k_nanoseconds = 1'000'000'000;

// a / b rounded down, for b > 0.
Wide floor_divide(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }

std::optional<FrameRate> reduced(std::int64_t num, std::int64_t den) {
  const std::int64_t divisor = std::gcd(num, den);
  if (divisor == 0 || std::max(num, den) / divisor > std::numeric_limits<int>::max())
    return std::nullopt;
  return FrameRate(static_cast<int>(num / divisor), static_cast<int>(den / divisor));
}

// digits / scale, where scale is a power of ten.
std::optional<FrameRate> decimal_rate(std::int64_t digits, std::int64_t scale) {
  if (scale >= 100) {
    for (const std::int64_t nominal : std::array{24, 30, 48, 60, 120}) {
      const std::int64_t exact = nominal * 1000 * scale;  // over 1001
      if ((2 * exact + 1001) / 2002 == digits)
        return FrameRate(static_cast<int>(nominal * 1000), 1001);
    }
  }
  return reduced(digits, scale);
}

std::optional<FrameRate> positive(std::optional<FrameRate> rate) {
  return rate && rate->num() > 0 ? rate : std::nullopt;
}

// A whole number without a sign.
std::optional<std::int64_t> count(std::string_view text) {
  constexpr std::size_t k_longest = 10;  // no int has more digits
  if (text.starts_with('-') || text.size() > k_longest) return std::nullopt;
  return parse_number<std::int64_t>(text);
}

}  // namespace

std::chrono::nanoseconds FrameRate::time_of(std::int64_t frame) const {
  NAVTALK_CHECK(num_ > 0);
  const Wide up = -floor_divide(-(Wide{frame} * den_ * k_nanoseconds), num_);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(up));
}

std::int64_t FrameRate::frame_at(std::chrono::nanoseconds time) const {
  NAVTALK_CHECK(num_ > 0);
  const Wide frame = floor_divide(Wide{time.count()} * num_, Wide{den_} * k_nanoseconds);
  return static_cast<std::int64_t>(frame);
}

std::string text(const FrameRate& rate) {
  const std::string num = std::to_string(rate.num());
  return rate.den() == 1 ? num : num + "/" + std::to_string(rate.den());
}

std::optional<FrameRate> parse_frame_rate(std::string_view text) {
  const std::size_t mark = text.find_first_of("./");
  const auto before = count(text.substr(0, mark));
  if (!before) return std::nullopt;
  if (mark == std::string_view::npos) return positive(reduced(*before, 1));
  const std::string_view rest = text.substr(mark + 1);
  const auto after = count(rest);
  if (!after) return std::nullopt;
  if (text[mark] == '/') return *after == 0 ? std::nullopt : positive(reduced(*before, *after));
  constexpr std::size_t k_most_places = 6;
  if (rest.size() > k_most_places) return std::nullopt;
  std::int64_t scale = 1;
  for (std::size_t i = 0; i < rest.size(); ++i) scale *= 10;
  return positive(decimal_rate(*before * scale + *after, scale));
}

}  // namespace navtalk
