#include "core/process/process_id.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "core/base/error.h"
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
  std::ifstream file(path);
  if (!file.is_open() && (errno == EMFILE || errno == ENFILE)) {
    throw Error(Code::failed, "cannot read " + path + ": " + std::strerror(errno));
  }
  // "pid (program) state ..."; the program's name may hold any character, brackets too.
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream rest(stat.substr(bracket + 1));
  std::string state, skipped;
  rest >> state;
  if (state == "Z" || state == "X") return std::nullopt;
  for (int field = 4; field < 22; ++field) rest >> skipped;
  std::uint64_t ticks = 0;
  if (!(rest >> ticks)) return std::nullopt;
  return ProcessId{pid, ticks};
}

}  // namespace navtalk
