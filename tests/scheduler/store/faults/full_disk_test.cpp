// A disk without room: the file of the writers' line beside an SQLite store says so. Each test runs
// in a child with a small file system of its own, since the mistake to be found is a SIGBUS.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/base/error.h"
#include "scheduler/store/sqlite/write_lock.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr std::size_t k_disk_bytes = 512 << 10;
enum Outcome { works = 0, named = 1, not_named = 2, skipped = 3 };

// Mounts for this process and its children only. Without the right to it in a user namespace of
// our own, where the kernel grants one.
bool own_disk(const std::filesystem::path& folder) {
  const uid_t user = geteuid();
  const bool apart =
      user == 0 ? unshare(CLONE_NEWNS) == 0
                : unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
                      (std::ofstream("/proc/self/uid_map") << "0 " << user << " 1").flush().good();
  const std::string size = "size=" + std::to_string(k_disk_bytes);
  return apart && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) == 0;
}

void fill_all_but(const std::filesystem::path& folder, std::size_t bytes) {
  std::ofstream(folder / "room") << std::string(bytes, 'x');
  std::ofstream filler(folder / "filler");
  while (filler.write(std::string(4096, 'x').data(), 4096).flush()) continue;
  std::filesystem::remove(folder / "room");
}

Outcome open_lock(const std::filesystem::path& file) {
  try {
    WriteLock lock(file);
    return lock.take(std::chrono::seconds(5)) ? works : not_named;
  } catch (const Error& error) {
    const std::string& text = error.message();
    return text.find(file.native()) != std::string::npos &&
                   text.find("No space left on device") != std::string::npos
               ? named
               : not_named;
  }
}

// The outcome of `work` on a small disk. A signal fails the test.
template <class F>
Outcome on_a_small_disk(const F& work) {
  const TemporaryDirectory folder;
  const pid_t child = fork();
  if (child == 0) _exit(own_disk(folder.path()) ? work(folder.path()) : skipped);
  int status = 0;
  waitpid(child, &status, 0);
  INFO("ended by signal " << (WIFSIGNALED(status) ? WTERMSIG(status) : 0));
  REQUIRE(WIFEXITED(status));
  return static_cast<Outcome>(WEXITSTATUS(status));
}

bool could(Outcome outcome) {
  if (outcome == skipped) WARN("skipped: no right to mount a file system");
  return outcome != skipped;
}

}  // namespace

TEST_CASE("a write lock's file that finds no room on the disk is named in the error") {
  for (const std::size_t left : {0, 4096, 40960}) {
    INFO(left << " bytes left");
    const Outcome outcome = on_a_small_disk([&](const std::filesystem::path& folder) {
      fill_all_but(folder, left);
      return open_lock(folder / "pool.db-turn");
    });
    if (could(outcome)) CHECK(outcome == named);
  }
}

TEST_CASE(
    "a write lock's file without content or with holes is made whole, or refused on a full disk") {
  for (const bool full : {false, true}) {
    const Outcome outcome = on_a_small_disk([&](const std::filesystem::path& folder) {
      const auto file = folder / "pool.db-turn";
      std::ofstream(file).flush();
      std::filesystem::resize_file(file, 100'000);
      if (full) fill_all_but(folder, 0);
      return open_lock(file);
    });
    if (could(outcome)) CHECK(outcome == (full ? named : works));
  }
}

TEST_CASE("a write lock's file that is there is used on a full disk") {
  const Outcome outcome = on_a_small_disk([](const std::filesystem::path& folder) {
    const Outcome first = open_lock(folder / "pool.db-turn");
    fill_all_but(folder, 0);
    return first == works ? open_lock(folder / "pool.db-turn") : first;
  });
  if (could(outcome)) CHECK(outcome == works);
}
