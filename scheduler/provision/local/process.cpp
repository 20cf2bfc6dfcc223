#include "scheduler/provision/local/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/process/proc_file.h"
#include "core/text/number.h"

namespace navtalk::local {
namespace {

std::string proc(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// Without a free descriptor nothing can be read; that does not mean that the processes are gone.
void throw_if_no_descriptors(const std::string& path) {
  if (errno != EMFILE && errno != ENFILE) return;
  throw Error(Code::failed, "cannot read " + path + ": " + std::strerror(errno));
}

// "" for a process that has ended.
std::string content(const std::string& path) { return read_proc_file(path).value_or(""); }

// The names in a folder of /proc that are numbers.
std::vector<pid_t> numbers_in(const std::string& folder) {
  const auto close = [](DIR* directory) { ::closedir(directory); };
  const std::unique_ptr<DIR, decltype(close)> directory(::opendir(folder.c_str()), close);
  if (!directory) throw_if_no_descriptors(folder);
  std::vector<pid_t> found;
  while (directory) {
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    if (const auto value = parse_number<pid_t>(entry->d_name)) found.push_back(*value);
  }
  return found;
}

bool ours(pid_t pid) {
  struct stat status = {};
  return ::stat(("/proc/" + std::to_string(pid)).c_str(), &status) == 0 &&
         status.st_uid == ::geteuid();
}

// What a file of /proc holds, each entry with a zero byte at its end.
std::vector<std::string> entries(const std::string& path) {
  std::istringstream text(content(path));
  std::vector<std::string> found;
  for (std::string entry; std::getline(text, entry, '\0');) found.push_back(entry);
  return found;
}

// nullopt for programs that are not workers.
std::optional<WorkerProcess> worker_process(pid_t pid) {
  WorkerProcess process{.arguments = entries(proc(pid, "cmdline"))};
  const auto& words = process.arguments;
  const auto name = std::find(words.begin(), words.end(), "--name");
  const bool worker = std::find(words.begin(), words.end(), "--worker") != words.end();
  if (!worker || name == words.end() || name + 1 == words.end()) return std::nullopt;
  process.name = *(name + 1);
  const auto id = identify(pid);
  if (!id || process.name.empty()) return std::nullopt;
  process.id = *id;
  return process;
}

// The inodes of the sockets that a process holds.
std::set<std::string> sockets_of(pid_t pid) {
  std::set<std::string> inodes;
  for (const pid_t fd : numbers_in(proc(pid, "fd"))) {
    char target[64];
    const ssize_t size =
        ::readlink(proc(pid, ("fd/" + std::to_string(fd)).c_str()).c_str(), target, sizeof target);
    const std::string_view link(target, size < 0 ? 0 : static_cast<std::size_t>(size));
    if (link.starts_with("socket:[")) inodes.emplace(link.substr(8, link.size() - 9));
  }
  return inodes;
}

}  // namespace

std::vector<WorkerProcess> worker_processes() {
  std::vector<WorkerProcess> found;
  for (const pid_t pid : numbers_in("/proc")) {
    if (!ours(pid)) continue;
    if (auto process = worker_process(pid)) found.push_back(std::move(*process));
  }
  return found;
}

std::vector<std::string> environment_of(const ProcessId& id) {
  return entries(proc(id.pid, "environ"));
}

bool runs(const ProcessId& id, const std::filesystem::path& program) {
  std::error_code fault;
  const bool same = std::filesystem::equivalent(proc(id.pid, "exe"), program, fault);
  return same || fault;  // what cannot be compared counts as the same
}

std::string listening_url(const ProcessId& id) {
  const std::set<std::string> inodes = sockets_of(id.pid);
  std::istringstream table(content(proc(id.pid, "net/tcp")));
  std::string line;
  std::getline(table, line);  // the heading
  while (std::getline(table, line)) {
    // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
    fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >>
        timeout >> inode;
    const bool listens_on_loopback = state == "0A" && local.starts_with("0100007F:");
    if (!listens_on_loopback || !inodes.contains(inode)) continue;
    const auto port = parse_number<unsigned>(std::string_view(local).substr(9), 16);
    if (port) return "http://127.0.0.1:" + std::to_string(*port);
  }
  return "";
}

// By number: glibc's header for these two calls is not meant for C++ before version 2.37.
UniqueFd watch_child(pid_t pid) {
  UniqueFd watched(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!watched && errno != ESRCH) {
    throw Error(Code::failed,
                "cannot watch process " + std::to_string(pid) + ": " + std::strerror(errno));
  }
  return watched;
}

UniqueFd watch(const ProcessId& id) {
  UniqueFd watched = watch_child(id.pid);
  // Checked after it was opened: from now on the descriptor cannot refer to another process.
  if (watched && identify(id.pid) != id) watched.reset();
  return watched;
}

void send_signal(const UniqueFd& watched, int signal) {
  ::syscall(SYS_pidfd_send_signal, watched.value(), signal, nullptr, 0);
}

Waited wait_readable(const std::vector<int>& fds, std::chrono::steady_clock::time_point until,
                     const std::stop_token& stop, std::size_t& which) {
  const UniqueFd stopped(::eventfd(0, EFD_CLOEXEC));
  const std::stop_callback tell(stop, [&stopped] { ::eventfd_write(stopped.value(), 1); });
  std::vector<pollfd> asked;
  asked.reserve(fds.size() + 1);
  for (const int fd : fds) asked.push_back({fd, POLLIN, 0});
  asked.push_back({stopped.value(), POLLIN, 0});
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Waited::late;
    const int count = ::poll(asked.data(), asked.size(),
                             static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
    if (count <= 0) continue;  // a signal, or not yet
    if (asked.back().revents != 0) return Waited::stopped;
    for (which = 0; which < fds.size(); ++which) {
      if (asked[which].revents != 0) return Waited::ready;
    }
  }
}

}  // namespace navtalk::local
