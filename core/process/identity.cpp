#include "core/process/identity.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <sstream>

namespace navtalk {
namespace {

// Field 22 of /proc/PID/stat, in clock ticks since boot; nullopt when there is no such process or
// it is dead and only waits to be reaped. The second field may hold spaces and brackets.
std::optional<std::string> start_time(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) {
    rest >> field;
    if (number == 3 && (field == "Z" || field == "X")) return std::nullopt;
  }
  return field;
}

// Process ids mean something within their namespace only; containers of one host have one each.
std::string pid_namespace() {
  std::array<char, 64> target{};
  if (readlink("/proc/self/ns/pid", target.data(), target.size() - 1) < 0) return "?";
  const std::string text = target.data();  // "pid:[4026531836]"
  const std::size_t open = text.find('[');
  return open == std::string::npos ? text : text.substr(open + 1, text.size() - open - 2);
}

// Another one on every machine and after every start of it.
std::string boot() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  in >> id;
  return id.empty() ? "?" : id;
}

// What processes share that can look at each other. Neither the host's name nor the namespace alone
// tells machines apart: cloned ones have one name, and the first namespace has one number on all.
std::string neighbourhood() { return host_name() + "/" + boot() + "." + pid_namespace(); }

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string this_process() {
  const std::string pid = std::to_string(getpid());
  return neighbourhood() + "/" + pid + "/" + start_time(pid).value_or("0");
}

bool surely_dead(const std::string& owner) {
  const std::size_t start = owner.rfind('/');
  if (start == std::string::npos || start == 0) return false;
  const std::size_t pid = owner.rfind('/', start - 1);
  if (pid == std::string::npos || owner.substr(0, pid) != neighbourhood()) return false;
  return start_time(owner.substr(pid + 1, start - pid - 1)) != owner.substr(start + 1);
}

}  // namespace navtalk
