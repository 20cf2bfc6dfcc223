#include "core/process/work_readings.h"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <sstream>
#include <string>

#include "core/base/error.h"
#include "core/process/proc_file.h"

namespace navtalk {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds k_least = std::chrono::milliseconds(1);
constexpr std::uint64_t k_least_bytes = 512;  // the readings themselves may differ by a few

nanoseconds time_of(clockid_t clock) {
  timespec used{};
  if (::clock_gettime(clock, &used) != 0) return nanoseconds(0);
  return std::chrono::seconds(used.tv_sec) + nanoseconds(used.tv_nsec);
}

// Empty where it cannot be read now.
std::istringstream text_of(const std::string& path) {
  try {
    return std::istringstream(read_proc_file(path).value_or(""));
  } catch (const Error&) {  // too many open files, which says nothing about the work
    return {};
  }
}

struct Scheduled {
  nanoseconds used{}, queued{};
};

// "USED QUEUED TURNS", in nanoseconds.
Scheduled scheduled(const std::string& folder) {
  std::istringstream words = text_of(folder + "/schedstat");
  std::int64_t used = 0, queued = 0;
  words >> used >> queued;
  return {.used = nanoseconds(used), .queued = nanoseconds(queued)};
}

// The sum of what it has transferred, whether from a disk or from memory: "rchar: 1", "read_bytes: 4096".
std::uint64_t transferred(const std::string& folder) {
  std::istringstream lines = text_of(folder + "/io");
  std::uint64_t sum = 0, number = 0;
  for (std::string word; lines >> word >> number;) {
    if (word == "rchar:" || word == "wchar:" || word == "read_bytes:" || word == "write_bytes:")
      sum += number;
  }
  return sum;
}

std::uint64_t pages_from_disk() {
  rusage used{};
  return ::getrusage(RUSAGE_SELF, &used) == 0 ? static_cast<std::uint64_t>(used.ru_majflt) : 0;
}

bool differs(nanoseconds before, nanoseconds now) {
  return now - before >= k_least || before - now >= k_least;
}

}  // namespace

bool got_on(const WorkReadings& before, const WorkReadings& now) {
  return differs(before.used, now.used) || differs(before.queued, now.queued) ||
         now.bytes - before.bytes >= k_least_bytes || before.faults != now.faults;
}

WorkMeter::WorkMeter() : thread_(::gettid()) {}

WorkReadings WorkMeter::read() const {
  const std::string folder = "/proc/self/task/" + std::to_string(thread_);
  const std::uint64_t own = transferred("/proc/thread-self");
  WorkReadings sum{.used = time_of(CLOCK_PROCESS_CPUTIME_ID) - time_of(CLOCK_THREAD_CPUTIME_ID),
                   .queued = scheduled(folder).queued,
                   .bytes = transferred("/proc/self") - own,
                   .faults = pages_from_disk()};
  std::istringstream children = text_of(folder + "/children");
  for (std::string child; children >> child;) {
    const Scheduled program = scheduled("/proc/" + child);
    sum.used += program.used;
    sum.queued += program.queued;
  }
  return sum;
}

}  // namespace navtalk
