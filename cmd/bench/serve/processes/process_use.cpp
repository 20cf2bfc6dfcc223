#include "cmd/bench/serve/processes/process_use.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "core/process/proc_file.h"
#include "core/process/process_stat.h"
#include "core/text/number.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_listening = "0A";  // TCP_LISTEN, as /proc/net/tcp writes it

std::string text_of(const fs::path& file) { return read_proc_file(file).value_or(""); }

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

fs::path folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  std::error_code gone;
  for (fs::directory_iterator entry("/proc", gone), end; entry != end; entry.increment(gone)) {
    if (gone) break;
    if (const auto pid = parse_number<pid_t>(entry->path().filename().native()))
      found.push_back(*pid);
  }
  return found;
}

// What each descriptor of a process leads to, such as "socket:[4026]"; empty for one of another user.
std::vector<std::string> descriptors_of(pid_t process) {
  std::vector<std::string> found;
  std::error_code gone;
  for (fs::directory_iterator entry(folder_of(process) / "fd", gone), end; !gone && entry != end;
       entry.increment(gone)) {
    std::error_code closed;
    found.push_back(fs::read_symlink(entry->path(), closed).native());
  }
  return found;
}

// "socket:[INODE]" of every socket that listens on the port.
std::set<std::string> listening_sockets(int port) {
  std::set<std::string> found;
  const std::string wanted = fmt::format(":{:04X}", port);
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      const std::vector<std::string> words = words_of(line);
      if (words.size() > 9 && words[1].ends_with(wanted) && words[3] == k_listening)
        found.insert("socket:[" + words[9] + "]");
    }
  }
  return found;
}

}  // namespace

std::optional<ProcessUse> use_of(pid_t process) {
  const std::optional<ProcessStat> stat = parse_process_stat(text_of(folder_of(process) / "stat"));
  if (!stat) return std::nullopt;
  const std::size_t descriptors = descriptors_of(process).size();
  if (descriptors == 0) return std::nullopt;  // of another user, who may not be looked at
  return ProcessUse{
      .threads = stat->threads,
      .descriptors = static_cast<int>(descriptors),
      .resident_bytes = stat->resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
      .processor_s =
          static_cast<double>(stat->processor_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK))};
}

std::optional<pid_t> listener_of(int port) {
  const std::set<std::string> sockets = listening_sockets(port);
  if (sockets.empty()) return std::nullopt;
  for (const pid_t process : all_processes()) {
    const auto listens = [&](const std::string& target) { return sockets.contains(target); };
    if (std::ranges::any_of(descriptors_of(process), listens)) return process;
  }
  return std::nullopt;
}

std::vector<pid_t> processes_of_state(const fs::path& folder) {
  const std::string variable = "STATE_DIRECTORY=" + folder.native();
  std::vector<pid_t> found;
  for (const pid_t process : all_processes()) {
    std::istringstream variables(text_of(folder_of(process) / "environ"));
    for (std::string one; std::getline(variables, one, '\0');) {
      if (one == variable) found.push_back(process);
    }
  }
  return found;
}

}  // namespace navtalk::cmd
