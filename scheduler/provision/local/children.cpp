#include "scheduler/provision/local/children.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/log/log.h"
#include "core/process/pipe.h"
#include "core/process/wait_child.h"
#include "core/text/lenient_json.h"

namespace navtalk::local {
namespace {

// Bytes. The rest of a longer line is dropped: it may hold what a user sent.
constexpr std::size_t k_longest_line = 2000;
constexpr Duration k_remembered = std::chrono::hours(1);

// What the child gets: three descriptors, signals as from a shell, a process group of its own (a
// Ctrl-C for the gateway is not meant for it).
class Setup {
 public:
  Setup(const UniqueFd& output, const UniqueFd& errors) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.value(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors.value(), STDERR_FILENO);
    // Sockets of other libraries may lack close-on-exec; a worker that outlives the gateway would
    // hold its port.
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    ::posix_spawnattr_init(&attributes);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Setup() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> pointed;
  pointed.reserve(words.size() + 1);
  for (std::string& word : words) pointed.push_back(word.data());
  pointed.push_back(nullptr);
  return pointed;
}

pid_t spawn(const ChildCommand& command, const Setup& setup) {
  std::vector<std::string> words = command.arguments, variables = command.environment;
  const std::vector<char*> arguments = pointers(words), environment = pointers(variables);
  pid_t pid = 0;
  const int fault = ::posix_spawn(&pid, arguments[0], &setup.actions, &setup.attributes,
                                  arguments.data(), environment.data());
  if (fault != 0) {
    throw Error(Code::failed, "cannot start " + words[0] + ": " + std::strerror(fault));
  }
  return pid;
}

struct LogLine {
  std::string message;
  bool quiet = false;
};

// A JSON line's message, then its fields as name=value; another line as it is.
LogLine read_log_line(const std::string& line) {
  const auto record = parse_json(line).value_or(nlohmann::json());
  const std::optional<std::string> message = text_field(record, "message");
  if (!message) return {.message = line};
  const std::string level = text_field(record, "level").value_or("");
  LogLine result{.message = *message, .quiet = level == "info" || level == "debug"};
  for (const auto& [field, value] : record.items()) {
    if (field == "time" || field == "level" || field == "message") continue;
    result.message +=
        " " + field + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return result;
}

std::string how_it_ended(int status, const std::string& last_line) {
  std::string how = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                      : "signal " + std::to_string(WTERMSIG(status));
  return last_line.empty() ? how : how + ": " + last_line;
}

}  // namespace

TimePoint Children::now() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return TimePoint(std::chrono::duration_cast<Duration>(since_boot));
}

Children::Children(std::function<void(const EndedChild&)> on_end)
    : on_end_(std::move(on_end)), changed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  NAVTALK_CHECK(static_cast<bool>(changed_));
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Children::~Children() {
  thread_.request_stop();
  ::eventfd_write(changed_.value(), 1);
}

Children::Started Children::start(const ChildCommand& command) {
  Pipe output = make_pipe(), errors = make_pipe();
  ::fcntl(errors.read.value(), F_SETFL, O_NONBLOCK);
  const std::lock_guard lock(mutex_);
  const pid_t pid = spawn(command, Setup(output.write, errors.write));
  Child child;
  child.name = command.name;
  // It is not reaped before it is in the table, so its id cannot be reused, even if it has ended.
  try {
    child.watched = watch_child(pid);
    child.id = identify(pid).value_or(ProcessId{pid, 0});
  } catch (const Error&) {
    // Nobody would notice its end.
    ::kill(pid, SIGKILL);
    wait_child(pid);
    throw;
  }
  child.errors = std::move(errors.read);
  child.started = now();
  const ProcessId id = child.id;
  ended_.erase(pid);
  children_.insert_or_assign(pid, std::move(child));
  ::eventfd_write(changed_.value(), 1);
  return {id, std::move(output.read)};
}

void Children::adopt(const std::string& name, const ProcessId& id) {
  const std::lock_guard lock(mutex_);
  if (children_.contains(id.pid)) return;
  Child child;
  child.watched = watch(id);
  if (!child.watched) return;
  child.name = name;
  child.id = id;
  child.started = now();
  child.adopted = true;
  ended_.erase(id.pid);
  children_.insert_or_assign(id.pid, std::move(child));
  ::eventfd_write(changed_.value(), 1);
}

void Children::expect_end(const ProcessId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = children_.find(id.pid);
  if (found != children_.end() && found->second.id == id) found->second.expected = true;
}

std::optional<EndedChild> Children::ended(const ProcessId& id) {
  std::unique_lock lock(mutex_);
  const auto known = [&] {
    const auto found = ended_.find(id.pid);
    return found != ended_.end() && found->second.id == id;
  };
  reaped_.wait_for(lock, std::chrono::seconds(2),
                   [&] { return known() || !children_.contains(id.pid); });
  return known() ? std::optional(ended_.at(id.pid)) : std::nullopt;
}

std::size_t Children::running() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      children_.begin(), children_.end(), [](const auto& child) { return !child.second.adopted; }));
}

std::vector<EndedChild> Children::ended() const {
  const std::lock_guard lock(mutex_);
  std::vector<EndedChild> all;
  for (const auto& [pid, child] : ended_) all.push_back(child);
  return all;
}

void Children::forget(const ProcessId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = ended_.find(id.pid);
  if (found != ended_.end() && found->second.id == id) ended_.erase(found);
}

void Children::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> asked = {{changed_.value(), POLLIN, 0}};
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [pid, child] : children_) {
        asked.push_back({child.watched.value(), POLLIN, 0});
        asked.push_back({child.errors.value(), POLLIN, 0});
      }
    }
    ::poll(asked.data(), asked.size(), -1);
    eventfd_t ignored = 0;
    ::eventfd_read(changed_.value(), &ignored);
    std::vector<EndedChild> gone;
    {
      const std::lock_guard lock(mutex_);
      for (auto next = children_.begin(); next != children_.end();) {
        Child& child = next->second;
        // Polled before its last output is read: nothing is written after it ended.
        pollfd over = {child.watched.value(), POLLIN, 0};
        const bool ended = ::poll(&over, 1, 0) > 0;
        if (child.errors && !read_errors(child)) child.errors.reset();
        if (!ended) {
          ++next;
          continue;
        }
        // Nobody destroys those of another pool.
        std::erase_if(ended_, [](const auto& old) {
          return old.second.adopted && now() - old.second.ended > k_remembered;
        });
        gone.push_back(reap(child));
        ended_[child.id.pid] = gone.back();
        next = children_.erase(next);
      }
    }
    reaped_.notify_all();
    for (const EndedChild& child : gone) on_end_(child);
  }
}

// False at the end of the stream.
bool Children::read_errors(Child& child) {
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t size = ::read(child.errors.value(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN;
    if (size == 0) break;
    for (const char c : std::string_view(bytes.data(), static_cast<std::size_t>(size))) {
      if (c == '\n') {
        pass_on(child);
      } else if (child.line.size() < k_longest_line) {
        child.line += c;
      } else {
        child.too_long = true;
      }
    }
  }
  pass_on(child);
  return false;
}

// Its lines are log lines already: each becomes a line of this log.
void Children::pass_on(Child& child) {
  if (child.line.empty()) return;
  std::string line = std::exchange(child.line, {});
  if (std::exchange(child.too_long, false)) line += "... (too long)";
  const LogLine said = read_log_line(line);
  child.last_line = said.message;
  const log::Fields fields = {{"worker", child.name}};
  if (said.quiet) {
    log::info(said.message, fields);
  } else {
    log::warn(said.message, fields);
  }
}

EndedChild Children::reap(Child& child) {
  return {.name = child.name,
          .id = child.id,
          .how = child.adopted ? "an unknown status"
                               : how_it_ended(wait_child(child.id.pid), child.last_line),
          .started = child.started,
          .ended = now(),
          .expected = child.expected,
          .adopted = child.adopted};
}

}  // namespace navtalk::local
