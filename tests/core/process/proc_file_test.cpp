#include "core/process/proc_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

#include "core/base/unique_fd.h"
#include "core/process/process_id.h"
#include "core/process/wait_child.h"
#include "tests/core/expect_error.h"

namespace navtalk {
namespace {

std::string stat_of(pid_t pid) { return "/proc/" + std::to_string(pid) + "/stat"; }

// A child that lives until it is killed.
pid_t waiting_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  REQUIRE(child > 0);
  return child;
}

void end(pid_t child) {
  ::kill(child, SIGKILL);
  wait_child(child);
}

}  // namespace

TEST_CASE("the file of a process that ends after it was opened is absent") {
  const pid_t child = waiting_child();
  // Opening /proc/self/fd/N opens the child's file once more, whether or not the child still runs;
  // the first read then finds no process.
  const UniqueFd opened(::open(stat_of(child).c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(opened);
  const std::string again = "/proc/self/fd/" + std::to_string(opened.value());
  CHECK(read_proc_file(again));
  end(child);
  CHECK_FALSE(read_proc_file(again));
  CHECK_FALSE(read_proc_file(stat_of(child)));
}

TEST_CASE("a file of /proc is read whole") {
  const std::string words(10'000, 'w');
  const UniqueFd file(::memfd_create("words", MFD_CLOEXEC));
  REQUIRE(::write(file.value(), words.data(), words.size()) == static_cast<ssize_t>(words.size()));
  CHECK(read_proc_file("/proc/self/fd/" + std::to_string(file.value())) == words);
}

TEST_CASE("what cannot be read for another reason than the process's end is an error") {
  test::expect_error(Code::failed, {"/proc/self", "Is a directory"},
                     [] { read_proc_file("/proc/self"); });
}

TEST_CASE("children that end while they are identified are found or gone, and no error") {
  struct sigaction reaped = {}, before = {};
  reaped.sa_handler = SIG_IGN;  // the kernel removes a child as soon as it ends
  REQUIRE(::sigaction(SIGCHLD, &reaped, &before) == 0);
  for (int i = 0; i < 300; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    REQUIRE(child > 0);
    while (identify(child)) {
    }
  }
  ::sigaction(SIGCHLD, &before, nullptr);
}

}  // namespace navtalk
