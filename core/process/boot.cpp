#include "core/process/boot.h"

#include <ctime>
#include <fstream>

namespace navtalk {

std::optional<std::string> boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  return file >> id ? std::optional(id) : std::nullopt;
}

Duration since_boot() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace navtalk
