#include "scheduler/store/sqlite/boot_clock.h"

#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "core/base/error.h"

namespace navtalk {

std::string boot_id() {
  constexpr const char* k_file = "/proc/sys/kernel/random/boot_id";
  std::string id;
  if (!(std::ifstream(k_file) >> id)) {
    throw Error(Code::failed, fmt::format("cannot read {}: is /proc mounted?", k_file));
  }
  return id;
}

Duration since_boot() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace navtalk
