#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "gpu/device/device.h"

TEST_CASE("the machine's description names what this machine has") {
  const navtalk::Machine machine = navtalk::this_machine();
  CHECK(machine.libtorch == "2.11.0");
  CHECK(machine.cores >= 1);
  CHECK(machine.threads >= 1);
  std::ifstream memory("/proc/meminfo");
  std::string label;
  double total_kib = 0;
  memory >> label >> total_kib;
  CHECK(machine.memory_gib == Approx(total_kib / (1 << 20)).epsilon(0.01));
  CHECK((machine.isa == "sse2") != (__builtin_cpu_supports("avx2") != 0));
}
