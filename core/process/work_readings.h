// What a thread that does long work in one piece, such as loading a model, has done and waited for up to now: whoever
// compares two readings knows whether it gets on. It does while it uses the processor, or would if the machine had a core
// for it, and while bytes come from a disk, however slow that is. It does not while it is stopped, or waits for a lock, or for
// a disk that does not answer. Linux only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

namespace navtalk {

// Since the process began.
struct WorkReadings {
  std::chrono::nanoseconds used{};    // of the processor
  std::chrono::nanoseconds queued{};  // runnable, without a core
  std::uint64_t bytes = 0;            // read and written, of files and pipes
  std::uint64_t faults = 0;           // pages that came from a disk

  bool operator==(const WorkReadings&) const = default;
};

// Between two readings that are about a second apart. A program that has ended counts no more, which is a change as well.
// Less than a millisecond, or than 512 bytes, is what threads take that only wait.
bool got_on(const WorkReadings& before, const WorkReadings& now);

// Stateless.
class WorkMeter {
 public:
  // Of the thread that makes it.
  WorkMeter();

  // On another thread of that process: what the process has used and transferred without the calling thread, how long the
  // thread that made it was queued, and both times of the programs that it waits for. What the system does not tell counts as 0.
  WorkReadings read() const;

 private:
  const pid_t thread_;
};

}  // namespace navtalk
