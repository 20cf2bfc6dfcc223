#include "cmd/bench/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/files/whole_file.h"
#include "core/process/pipe.h"
#include "core/process/wait_child.h"

namespace navtalk::cmd {
namespace {

UniqueFd open_errors(const std::filesystem::path& file) {
  if (file.empty()) return UniqueFd();
  UniqueFd opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!opened) throw Error(Code::failed, file.native() + ": " + system_message(errno));
  return opened;
}

// Texts as execve() takes them.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> found;
  for (std::string& text : texts) found.push_back(text.data());
  found.push_back(nullptr);
  return found;
}

std::vector<std::string> variables_of(const ChildProcess::Start& start) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    if (!start.withheld || !start.withheld(text.substr(0, text.find('=')))) all.push_back(text);
  }
  all.insert(all.end(), start.variables.begin(), start.variables.end());
  return all;
}

struct Ends {
  int input, output, errors;  // errors: -1 for the parent's
};

// Between fork and exec; only what may be called there.
[[noreturn]] void become(const Ends& ends, char* const* arguments, char* const* environment) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(ends.input, STDIN_FILENO);
  ::dup2(ends.output, STDOUT_FILENO);
  if (ends.errors >= 0) ::dup2(ends.errors, STDERR_FILENO);
  ::execve("/proc/self/exe", arguments, environment);
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const Start& start) {
  auto [child_input, input] = make_pipe();
  auto [output, child_output] = make_pipe();
  const UniqueFd errors = open_errors(start.errors);
  std::vector<std::string> arguments = start.arguments;
  arguments.insert(arguments.begin(), "navtalk");
  std::vector<std::string> variables = variables_of(start);
  const std::vector<char*> argument_list = pointers(arguments);
  const std::vector<char*> variable_list = pointers(variables);
  pid_ = ::fork();
  if (pid_ == 0) {
    become({child_input.value(), child_output.value(), errors.value()}, argument_list.data(),
           variable_list.data());
  }
  if (pid_ < 0) {
    throw Error(Code::failed, fmt::format("cannot start a process: {}", system_message(errno)));
  }
  input_ = std::move(input);
  output_ = std::move(output);
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait_child(pid_);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      unread_(std::move(other.unread_)) {}

void ChildProcess::tell(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(input_.value(), text.data(), text.size()) < 0) {
    throw Error(Code::failed, "a process of the bench has ended");
  }
}

std::string ChildProcess::line(const std::stop_token& stop) {
  std::array<char, 65536> piece{};
  std::size_t end = 0;
  while ((end = unread_.find('\n')) == std::string::npos) {
    throw_if_stopped(stop);
    pollfd ready{output_.value(), POLLIN, 0};
    if (::poll(&ready, 1, 200) <= 0) continue;  // a stop is looked for in between
    const ssize_t n = ::read(output_.value(), piece.data(), piece.size());
    if (n <= 0) throw Error(Code::failed, "a process of the bench ended early");
    unread_.append(piece.data(), static_cast<std::size_t>(n));
  }
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

void ChildProcess::terminate() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  wait_child(std::exchange(pid_, -1));
}

}  // namespace navtalk::cmd
