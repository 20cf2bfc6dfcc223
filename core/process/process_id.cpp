#include "core/process/process_id.h"

#include <string_view>

#include "core/process/proc_file.h"
#include "core/process/process_stat.h"
#include "core/text/number.h"

namespace navtalk {

std::string text(const ProcessId& id) {
  return std::to_string(id.pid) + ":" + std::to_string(id.start_ticks);
}

std::optional<ProcessId> parse_process_id(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto pid = parse_number<pid_t>(std::string_view(text).substr(0, colon));
  const auto ticks = parse_number<std::uint64_t>(std::string_view(text).substr(colon + 1));
  if (!pid || !ticks || *pid <= 0) return std::nullopt;
  return ProcessId{*pid, *ticks};
}

std::optional<ProcessId> identify(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const auto content = read_proc_file(path);
  const auto stat = content ? parse_process_stat(*content) : std::nullopt;
  if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  return ProcessId{pid, stat->start_ticks};
}

}  // namespace navtalk
