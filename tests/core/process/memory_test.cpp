#include "core/process/memory.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "tests/core/files/scratch_folder.h"

namespace navtalk {
namespace {
namespace fs = std::filesystem;

// A machine of 1000 KiB with 600 available, and what a test adds.
class System {
 public:
  System() { write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 600 kB\n"); }
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }
  MemoryRoom room() const {
    const auto found = memory_room({.proc = folder_ / "proc", .groups = folder_ / "groups"});
    REQUIRE(found);
    return *found;
  }

 private:
  test::ScratchFolder folder_;
};

constexpr std::uint64_t k_kib = 1024;

TEST_CASE("without control groups the machine's memory counts") {
  const System system;
  CHECK(system.room().total == 1000 * k_kib);
  CHECK(system.room().used == 400 * k_kib);
}

TEST_CASE("a limit of a control group counts, and so does one of those that it is in") {
  System system;
  system.write("proc/self/cgroup", "0::/pod/box\n");
  system.write("groups/pod/box/memory.max", "max\n");
  system.write("groups/pod/box/memory.current", "70000\n");
  CHECK(system.room().total == 1000 * k_kib);
  system.write("groups/pod/memory.max", "200000\n");
  system.write("groups/pod/memory.current", "90000\n");
  system.write("groups/pod/memory.stat", "anon 1\ninactive_file 20000\nactive_file 7\n");
  CHECK(system.room().total == 200000);
  CHECK(system.room().used == 70000);
}

TEST_CASE("groups of version 1 count, also where a container sees its own alone") {
  System system;
  system.write("proc/self/cgroup", "3:cpu,cpuacct:/x\n2:memory:/of/the/host\n");
  system.write("groups/memory/memory.limit_in_bytes", "300000\n");
  system.write("groups/memory/memory.usage_in_bytes", "100000\n");
  system.write("groups/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 50000\n");
  CHECK(system.room().total == 300000);
  CHECK(system.room().used == 50000);
}

TEST_CASE("a limit above what the machine has left changes nothing") {
  System system;
  system.write("proc/self/cgroup", "0::/\n");
  system.write("groups/memory.max", "9000000\n");
  system.write("groups/memory.current", "1000\n");
  CHECK(system.room().total == 1000 * k_kib);
}

TEST_CASE("a system that does not tell has no room to speak of") {
  const test::ScratchFolder empty;
  CHECK_FALSE(memory_room({.proc = empty.path(), .groups = empty.path()}));
}

TEST_CASE("this process has some memory, and one that has ended has none") {
  const auto own = resident_bytes(::getpid());
  REQUIRE(own);
  CHECK(*own > 1000 * k_kib);
  CHECK_FALSE(resident_bytes(1 << 30));
}

}  // namespace
}  // namespace navtalk
