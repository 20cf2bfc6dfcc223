#include "core/process/run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/files/whole_file.h"
#include "core/process/spawn_words.h"
#include "core/process/wait_child.h"

namespace navtalk {
namespace {

constexpr int k_extra = 3;
// Our own files lie above the numbers that they are given as, so none overwrites another.
constexpr int k_first_own = 10;

void check(bool done, const char* what) {
  if (!done) throw Error(Code::failed, std::string(what) + ": " + system_message(errno));
}

// What the child gets: its descriptors, and signals as if it were started from a shell (ours are
// blocked for SignalStop, which a child inherits).
class Setup {
 public:
  Setup() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Setup() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  void give(const UniqueFd& file, int as) {
    ::posix_spawn_file_actions_adddup2(&actions, file.value(), as);
  }

  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
};

// Blocks unless WNOHANG is among the flags. The child stays to be reaped.
bool has_ended(pid_t child, int flags = 0) {
  siginfo_t info = {};
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT | flags) != 0) {
    if (errno != EINTR) return true;  // it is nobody's child any more
  }
  return info.si_pid == child;
}

using Clock = std::chrono::steady_clock;

// For systems that give no descriptor of a process: a kernel before 5.3, or a container that refuses the call.
bool ends_before_unwatched(pid_t child, Clock::time_point until) {
  constexpr std::chrono::milliseconds k_pause{10};
  while (!has_ended(child, WNOHANG)) {
    const auto left = until - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    std::this_thread::sleep_for(std::min<Clock::duration>(left, k_pause));
  }
  return true;
}

// False: it still runs when that time is over.
bool ends_within(pid_t child, std::chrono::milliseconds time) {
  // By its number: Debian 12's header declares pidfd_open() for C alone.
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const auto until = Clock::now() + time;
  if (!process) return ends_before_unwatched(child, until);
  pollfd ended{.fd = process.value(), .events = POLLIN, .revents = 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return false;
    const int rc = ::poll(&ended, 1, static_cast<int>(left.count()));
    if (rc > 0) return true;
    if (rc < 0 && errno != EINTR) return false;
  }
}

int wait_for(pid_t child, std::optional<std::chrono::milliseconds> within,
             const std::stop_token& stop, bool& late) {
  {
    // The child is not reaped before this callback is gone, so its id cannot belong to another.
    const std::stop_callback end(stop, [child] { ::kill(child, SIGKILL); });
    late = within && !ends_within(child, *within);
    if (late) ::kill(child, SIGKILL);
    has_ended(child);
  }
  const int status = wait_child(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

UniqueFd memory_file(std::string_view content) {
  const UniqueFd low(::memfd_create("navtalk", MFD_CLOEXEC));
  UniqueFd file(::fcntl(low.value(), F_DUPFD_CLOEXEC, k_first_own));
  check(static_cast<bool>(file), "making a file in memory");
  for (std::size_t put = 0; put < content.size();) {
    const ssize_t n = ::write(file.value(), content.data() + put, content.size() - put);
    check(n > 0, "writing a file in memory");
    put += static_cast<std::size_t>(n);
  }
  ::lseek(file.value(), 0, SEEK_SET);
  return file;
}

std::string content_of(const UniqueFd& file) {
  struct stat status = {};
  check(::fstat(file.value(), &status) == 0, "reading a file in memory");
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t n = ::pread(file.value(), content.data(), content.size(), 0);
  content.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return content;
}

std::optional<RunResult> run_program(const Run& run, const std::stop_token& stop) {
  throw_if_stopped(stop);
  const UniqueFd input = memory_file(run.input), output = memory_file(), errors = memory_file();
  Setup setup;
  setup.give(input, STDIN_FILENO);
  setup.give(output, STDOUT_FILENO);
  setup.give(errors, STDERR_FILENO);
  if (run.extra != nullptr) setup.give(*run.extra, k_extra);
  // Sockets of other libraries may lack close-on-exec, and the program may be one that reads what strangers sent.
  const int first_other = run.extra != nullptr ? k_extra + 1 : k_extra;
  ::posix_spawn_file_actions_addclosefrom_np(&setup.actions, first_other);

  std::vector<std::string> words = run.command;
  std::vector<std::string> own = run.environment.value_or(std::vector<std::string>());
  const std::vector<char*> arguments = pointers_to(words), variables = pointers_to(own);
  pid_t child = 0;
  const int rc = ::posix_spawnp(&child, arguments[0], &setup.actions, &setup.attributes,
                                arguments.data(), run.environment ? variables.data() : environ);
  if (rc == ENOENT) return std::nullopt;
  if (rc != 0)
    throw Error(Code::failed, run.command[0] + " cannot be started: " + system_message(rc));
  bool late = false;
  const int status = wait_for(child, run.within, stop, late);
  throw_if_stopped(stop);
  return RunResult{.exit_status = status,
                   .output = content_of(output),
                   .errors = content_of(errors),
                   .late = late};
}

}  // namespace navtalk
