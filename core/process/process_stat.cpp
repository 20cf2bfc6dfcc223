#include "core/process/process_stat.h"

#include <array>
#include <sstream>

#include "core/text/number.h"

namespace navtalk {

// "pid (program) state ..."; the program's name may hold any character, brackets and blanks too.
std::optional<ProcessStat> parse_process_stat(const std::string& text) {
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  // Behind the name; proc(5) counts two more, and from 1.
  constexpr std::size_t k_state = 0, k_user = 11, k_system = 12, k_threads = 17, k_start = 19,
                        k_pages = 21;
  std::istringstream rest(text.substr(bracket + 1));
  std::array<std::string, k_pages + 1> fields;
  for (std::string& field : fields) {
    if (!(rest >> field)) return std::nullopt;
  }
  const auto user = parse_number<std::uint64_t>(fields[k_user]);
  const auto system = parse_number<std::uint64_t>(fields[k_system]);
  const auto threads = parse_number<int>(fields[k_threads]);
  const auto start = parse_number<std::uint64_t>(fields[k_start]);
  const auto pages = parse_number<std::uint64_t>(fields[k_pages]);
  if (!user || !system || !threads || !start || !pages) return std::nullopt;
  return ProcessStat{.state = fields[k_state].front(),
                     .processor_ticks = *user + *system,
                     .threads = *threads,
                     .start_ticks = *start,
                     .resident_pages = *pages};
}

}  // namespace navtalk
