#include "core/process/run.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "core/base/error.h"
#include "tests/core/process/child.h"

using namespace navtalk;
using namespace navtalk::test;
using namespace std::chrono_literals;

TEST_CASE("a program that takes too long is killed and called late") {
  const auto before = std::chrono::steady_clock::now();
  const auto ran =
      run_program({.command = {"/bin/sh", "-c", "echo begun; exec sleep 60"}, .within = 500ms}, {});
  REQUIRE(ran);
  CHECK(ran->late);
  CHECK(ran->output == "begun\n");
  CHECK(std::chrono::steady_clock::now() - before < 30s);
}

TEST_CASE("a program that ends in time is not late, and has the environment that it is given") {
  const auto ran = run_program({.command = {"/usr/bin/env"},
                                .environment = std::vector<std::string>{"ONLY=this"},
                                .within = 60s},
                               {});
  REQUIRE(ran);
  CHECK_FALSE(ran->late);
  CHECK(ran->exit_status == 0);
  CHECK(ran->output == "ONLY=this\n");
}

TEST_CASE("a program has no descriptors but those that it is given") {
  constexpr int k_high = 200;  // above what the program opens itself
  const UniqueFd inherited(::fcntl(STDERR_FILENO, F_DUPFD, k_high));
  REQUIRE(inherited.value() >= k_high);
  const UniqueFd extra = memory_file("a file");
  const std::string other = "/proc/$$/fd/" + std::to_string(inherited.value());
  const std::string script = "cat <&3; [ -e " + other + " ] || echo ' alone'";
  const auto ran = run_program({.command = {"/bin/sh", "-c", script}, .extra = &extra}, {});
  REQUIRE(ran);
  CHECK(ran->output == "a file alone\n");
}

TEST_CASE("a program is watched on systems that have no descriptors of processes") {
  const auto without_descriptors = [](const std::string& script, std::chrono::milliseconds within,
                                      auto check) {
    return status_of([&] {
      if (!forbid(SYS_pidfd_open, ENOSYS)) return 1;
      const auto ran = run_program({.command = {"/bin/sh", "-c", script}, .within = within}, {});
      return ran && check(*ran) ? 7 : 2;
    });
  };
  CHECK(without_descriptors("exit 3", 50s, [](const RunResult& ran) {
          return !ran.late && ran.exit_status == 3;
        }) == 7);
  CHECK(without_descriptors("exec sleep 60", 500ms,
                            [](const RunResult& ran) { return ran.late; }) == 7);
}

TEST_CASE("a stop request kills the program, whether it has a descriptor or not") {
  const bool has_descriptor = GENERATE(true, false);
  CHECK(status_of([has_descriptor] {
          if (!has_descriptor && !forbid(SYS_pidfd_open, ENOSYS)) return 1;
          std::stop_source stop;
          const UniqueFd begun = memory_file();
          std::jthread stopper([&] {
            while (content_of(begun).empty()) std::this_thread::yield();
            stop.request_stop();
          });
          try {
            run_program({.command = {"/bin/sh", "-c", "echo begun >&3; exec sleep 50"},
                         .extra = &begun,
                         .within = 50s},
                        stop.get_token());
          } catch (const Error& error) {
            return error.code() == Code::interrupted ? 7 : 2;
          }
          return 3;
        }) == 7);
}
