#include "core/process/wait_child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

namespace navtalk {
namespace {

int told[2];  // the signal's handler writes, the child reads

void tell(int) { (void)!::write(told[1], "x", 1); }

bool sleeps(const char* stat_file) {
  const int file = ::open(stat_file, O_RDONLY);
  char text[512] = {};
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (length <= 0) return false;
  const std::string line(text);
  return line.substr(line.rfind(')')).starts_with(") S");
}

TEST_CASE("a signal does not end the wait for a child") {
  struct sigaction telling = {}, before = {};
  telling.sa_handler = tell;  // without SA_RESTART: the call that it meets is cut short
  REQUIRE(::sigaction(SIGUSR1, &telling, &before) == 0);
  REQUIRE(::pipe(told) == 0);
  const pid_t parent = ::getpid();
  const std::string stat_file = "/proc/" + std::to_string(parent) + "/stat";
  const pid_t child = ::fork();
  if (child == 0) {
    while (!sleeps(stat_file.c_str())) {  // until it waits
    }
    ::kill(parent, SIGUSR1);
    char byte = 0;
    ::_exit(::read(told[0], &byte, 1) == 1 ? 7 : 1);
  }
  REQUIRE(child > 0);
  const int status = wait_child(child);
  ::sigaction(SIGUSR1, &before, nullptr);
  for (const int end : told) ::close(end);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("the wait for what is not a child ends at once") { CHECK(wait_child(1) == 0); }

}  // namespace
}  // namespace navtalk
