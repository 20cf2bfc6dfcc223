#include "core/process/stream_input.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <thread>

#include "tests/core/expect_error.h"
#include "tests/core/files/scratch_folder.h"

using namespace navtalk;
using namespace navtalk::test;

TEST_CASE("a named pipe is a stream, a file and a folder are not") {
  const ScratchFolder folder;
  put(folder / "file", "x");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(is_stream("-"));
  CHECK(is_stream(folder / "pipe"));
  CHECK_FALSE(is_stream(folder / "file"));
  CHECK_FALSE(is_stream(folder.path()));
  CHECK_FALSE(is_stream(folder / "absent"));
  CHECK(stream_name("-") == "standard input");
}

TEST_CASE("a stream is read to its end, and can then be opened again and again") {
  const ScratchFolder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string sent(300'000, 'y');
  std::jthread writer([&] { put(pipe, sent); });
  const UniqueFd read = read_stream(pipe, 1'000'000, {});
  for (int i = 0; i < 2; ++i) CHECK(content(path_of_memory(read)) == sent);
}

TEST_CASE("a stream that is too long or empty is refused by name") {
  const ScratchFolder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  // The reader leaves early: the writer must not be killed for it.
  const auto send = [&](std::size_t bytes) {
    return std::jthread([&pipe, bytes] {
      sigset_t broken;
      sigemptyset(&broken);
      sigaddset(&broken, SIGPIPE);
      pthread_sigmask(SIG_BLOCK, &broken, nullptr);
      put(pipe, std::string(bytes, 'z'));
    });
  };
  {
    const std::jthread writer = send(2'000'001);
    expect_error(Code::invalid, {pipe.string(), "holds more than 2 MB"},
                 [&] { read_stream(pipe, 2'000'000, {}); });
  }
  const std::jthread writer = send(0);
  expect_error(Code::invalid, {pipe.string(), "is empty"}, [&] { read_stream(pipe, 100, {}); });
}

TEST_CASE("a stop ends the wait for a stream that says nothing") {
  const ScratchFolder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const UniqueFd silent(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));  // a writer that sends nothing
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  expect_error(Code::interrupted, {}, [&] { read_stream(pipe, 100, stop.get_token()); });
}
