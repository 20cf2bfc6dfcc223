#include "tests/scheduler/store/processes/child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "core/process/pipe.h"

namespace navtalk::tests {

Child::Child(const std::vector<std::string>& command) {
  auto [child_input, input] = make_pipe();
  auto [output, child_output] = make_pipe();
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(child_input.value(), 0);
    dup2(child_output.value(), 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  if (pid_ < 0) throw std::runtime_error("fork");
  input_ = std::move(input);
  output_ = std::move(output);
}

Child::~Child() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  wait();
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      unread_(std::move(other.unread_)) {}

void Child::say(const std::string& line) {
  const std::string text = line + "\n";
  if (write(input_.value(), text.data(), text.size()) < 0) throw std::runtime_error("write");
}

std::string Child::line() {
  std::array<char, 4096> piece{};
  std::size_t end = 0;
  while ((end = unread_.find('\n')) == std::string::npos) {
    const ssize_t n = read(output_.value(), piece.data(), piece.size());
    if (n <= 0) return std::exchange(unread_, {});
    unread_.append(piece.data(), static_cast<std::size_t>(n));
  }
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

std::vector<std::string> Child::rest() {
  std::vector<std::string> lines;
  for (std::string next = line(); !next.empty(); next = line()) lines.push_back(std::move(next));
  return lines;
}

void Child::signal(int number) const { kill(pid_, number); }

int Child::wait() {
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace navtalk::tests
