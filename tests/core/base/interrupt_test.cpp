#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <semaphore>

#include "core/base/error.h"
#include "core/base/interrupt.h"

using namespace navtalk;

namespace {

// Runs `work` in a process of its own, since signals concern a whole process; its wait status.
template <class F>
int in_child(F&& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void wait_for_stop(const std::stop_token& token) {
  std::binary_semaphore stopped(0);
  const std::stop_callback tell(token, [&] { stopped.release(); });
  stopped.acquire();
}

int status_of(const std::stop_token& token) {
  try {
    throw_if_stopped(token);
  } catch (const Error& error) {
    return exit_status(error.code());
  }
  return 0;
}

}  // namespace

TEST_CASE("a signal becomes a stop request, and the exit status tells which") {
  const auto [signal, expected] = GENERATE(table<int, int>({{SIGINT, 130}, {SIGTERM, 143}}));
  const int status = in_child([signal = signal] {
    const SignalStop stop;
    if (status_of(stop.token()) != 0) return 1;
    ::kill(::getpid(), signal);
    wait_for_stop(stop.token());
    return status_of(stop.token());
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == expected);
}

TEST_CASE("a second signal ends the process at once") {
  const auto [signal, expected] = GENERATE(table<int, int>({{SIGINT, 130}, {SIGTERM, 143}}));
  const int status = in_child([signal = signal] {
    const SignalStop stop;
    ::kill(::getpid(), SIGINT);
    wait_for_stop(stop.token());
    for (;;) {  // as work does that never looks at the token
      ::usleep(1000);
      ::kill(::getpid(), signal);
    }
    return 1;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == expected);
}

TEST_CASE("one request that arrives as two signals still lets the work clean up") {
  int status = 0;
  // Two requests where the machine stands still between them for a third of a second.
  for (int tries = 0; tries < 20 && WEXITSTATUS(status) != 42; ++tries) {
    status = in_child([] {
      const SignalStop stop;
      ::kill(::getpid(), SIGTERM);
      wait_for_stop(stop.token());
      ::kill(::getpid(), SIGTERM);
      ::usleep(20'000);  // cleaning up takes a moment
      return 42;
    });
  }
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
}

TEST_CASE("an ignored SIGINT, as a shell's background jobs have it, stops too") {
  const int status = in_child([] {
    std::signal(SIGINT, SIG_IGN);
    const SignalStop stop;
    ::kill(::getpid(), SIGINT);
    wait_for_stop(stop.token());
    return status_of(stop.token());
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
}

TEST_CASE("signals are as before once it is gone") {
  const int status = in_child([] {
    std::signal(SIGTERM, SIG_DFL);  // the test framework has a handler of its own
    { const SignalStop stop; }
    ::kill(::getpid(), SIGTERM);
    return 1;
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("a token that stops without a signal counts as an interrupt") {
  std::stop_source source;
  CHECK_NOTHROW(throw_if_stopped(source.get_token()));
  CHECK_NOTHROW(throw_if_stopped({}));
  CHECK(stop_status(source.get_token()) == 0);
  source.request_stop();
  CHECK(stop_status(source.get_token()) == 130);
  CHECK(status_of(source.get_token()) == 130);
}

TEST_CASE("a hangup calls what was set, each time, and stops nothing") {
  const int status = in_child([] {
    SignalStop stop;
    std::counting_semaphore<4> called(0);
    stop.on_hangup([&] { called.release(); });
    for (int i = 0; i < 2; ++i) {
      ::kill(::getpid(), SIGHUP);
      called.acquire();
    }
    stop.on_hangup([] {});  // what it refers to may go now
    return stop.token().stop_requested() ? 1 : 42;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
}

TEST_CASE("a hangup that nobody waits for ends the process, as it does by default") {
  const int status = in_child([] {
    const SignalStop stop;
    ::kill(::getpid(), SIGHUP);
    for (;;) ::pause();
    return 0;
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGHUP);
}

TEST_CASE("a process that was started with hangups ignored goes on") {
  const int status = in_child([] {
    std::signal(SIGHUP, SIG_IGN);
    const SignalStop stop;
    ::kill(::getpid(), SIGHUP);
    ::kill(::getpid(), SIGTERM);  // is taken after it, by number
    wait_for_stop(stop.token());
    return status_of(stop.token());
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 143);
}
