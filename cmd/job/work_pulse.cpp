#include "cmd/job/work_pulse.h"

#include <utility>

#include "core/base/error.h"

namespace navtalk::cmd {

WorkPulse::WorkPulse(Options options)
    : options_(std::move(options)), thread_([this](const std::stop_token& stop) { look(stop); }) {}

void WorkPulse::begin() {
  {
    const std::lock_guard lock(mutex_);
    until_ = Clock::now() + options_.at_most;
  }
  wake_.notify_all();
}

void WorkPulse::rest() {
  const std::lock_guard lock(mutex_);
  until_.reset();
}

// Readings from before begin() are not compared: only work without steps counts.
void WorkPulse::look(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::optional<WorkReadings> before;
  while (!stop.stop_requested()) {
    if (!until_) {
      before.reset();
      wake_.wait(lock, stop, [this] { return until_.has_value(); });
      continue;
    }
    const bool in_time = Clock::now() < *until_;
    lock.unlock();
    const WorkReadings now = options_.read();
    if (before && in_time && got_on(*before, now)) {
      try {
        options_.tell();
      } catch (const Error&) {  // the work's own next step meets that, and ends for that reason
        return;
      }
    }
    before = now;
    lock.lock();
    wake_.wait_for(lock, stop, options_.look_every, [] { return false; });
  }
}

}  // namespace navtalk::cmd
