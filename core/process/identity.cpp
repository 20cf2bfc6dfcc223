#include "core/process/identity.h"

#include <unistd.h>

#include <array>
#include <optional>

#include "core/process/boot.h"
#include "core/process/process_id.h"

namespace navtalk {
namespace {

// Process ids mean something within their namespace only; containers of one host have one each.
std::string pid_namespace() {
  std::array<char, 64> target{};
  if (readlink("/proc/self/ns/pid", target.data(), target.size() - 1) < 0) return "?";
  const std::string text = target.data();  // "pid:[4026531836]"
  const std::size_t open = text.find('[');
  return open == std::string::npos ? text : text.substr(open + 1, text.size() - open - 2);
}

// Equal for processes that can see each other in /proc. Neither the host's name nor the namespace
// alone tells machines apart: cloned ones have one name, and the first namespace has one number on
// all of them.
std::string visibility() {
  return host_name() + "/" + boot_id().value_or("?") + "." + pid_namespace();
}

// "host/boot.namespace" of a process's identity; "" for other text.
std::string visibility_of(const std::string& process) {
  const std::size_t start = process.rfind('/');
  if (start == std::string::npos || start == 0) return "";
  const std::size_t pid = process.rfind('/', start - 1);
  return pid == std::string::npos ? "" : process.substr(0, pid);
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string this_process() {
  const std::optional<ProcessId> id = identify(getpid());
  return visibility() + "/" + std::to_string(getpid()) + "/" +
         std::to_string(id ? id->start_ticks : 0);
}

bool is_dead(const std::string& process) {
  const std::string seen_from = visibility_of(process);
  if (seen_from != visibility()) return false;
  const std::size_t pid = seen_from.size() + 1, start = process.rfind('/');
  const std::optional<ProcessId> id =
      parse_process_id(process.substr(pid, start - pid) + ":" + process.substr(start + 1));
  return id && identify(id->pid) != id;
}

bool are_apart(const std::string& process, const std::string& other) {
  const std::string one = visibility_of(process), two = visibility_of(other);
  return !one.empty() && !two.empty() && one != two;
}

}  // namespace navtalk
