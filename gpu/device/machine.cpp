// What /proc says about the machine.
#include <sched.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "gpu/device/device.h"

namespace navtalk {
namespace {

// The value of the first line "key : value" of /proc/cpuinfo; empty where there is none.
std::string cpu_info(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

double memory_gib() {
  const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 30);
}

}  // namespace

// /proc/cpuinfo says what processor and kernel offer together.
std::string widest_isa() {
  struct Isa {
    const char *flag, *name;
  };
  constexpr std::array<Isa, 4> widest_first{{{" amx_bf16 ", "amx_bf16"},
                                             {" avx512_bf16 ", "avx512_bf16"},
                                             {" avx512bw ", "avx512"},
                                             {" avx2 ", "avx2"}}};
  std::string flags(" ");
  flags += cpu_info("flags");
  flags += ' ';
  for (const Isa& isa : widest_first)
    if (flags.find(isa.flag) != std::string::npos) return isa.name;
  return "sse2";
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

Machine this_machine() {
  return {.cpu = cpu_info("model name"),
          .isa = widest_isa(),
          .cores = usable_cores(),
          .threads = usable_cores(),
          .memory_gib = memory_gib(),
          .libtorch = TORCH_VERSION};
}

}  // namespace navtalk
