#include "tests/fakes/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace navtalk::tests {
namespace {

constexpr int k_patience_ms = 2'000;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : added)
    all.push_back(std::string(name).append("=").append(value));
  return all;
}

// True when the process ended within the time.
bool ended(pid_t pid, int milliseconds) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  pollfd process{handle, POLLIN, 0};
  const bool over = handle >= 0 && ::poll(&process, 1, milliseconds) > 0;
  if (handle >= 0) ::close(handle);
  return over;
}

int port_in(const std::string& line) {
  const nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
  if (!value.is_object()) return 0;
  const std::string place = value.value("url", value.value("listen", ""));
  const std::size_t colon = place.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(place.c_str() + colon + 1);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command,
                           const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words = command, variables = merged(environment);
  const std::vector<char*> argv = pointers(words), envp = pointers(variables);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for a child");
  // Between fork and exec only calls that are safe beside other threads.
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvpe(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  output_ = ends[0];
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
  if (pid_ < 0) throw std::runtime_error("cannot start " + command.at(0));
}

ChildProcess::~ChildProcess() {
  ::kill(pid_, SIGTERM);
  if (!ended(pid_, k_patience_ms)) ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(output_);
}

int ChildProcess::port() {
  const std::lock_guard lock(mutex_);
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(output_, buffer, sizeof buffer)) > 0;) {
    text_.append(buffer, static_cast<std::size_t>(got));
  }
  const std::size_t end = text_.find('\n');
  return end == std::string::npos ? 0 : port_in(text_.substr(0, end));
}

}  // namespace navtalk::tests
