// Tells that a thread gets on with work that has no steps to report: a model that is loaded, an hour of sound that is decoded. A
// thread of its own compares what the other one has done with what it had done before (core/process/work_readings.h), and is
// silent about one that stands still.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/process/work_readings.h"

namespace navtalk::cmd {

class WorkPulse {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    std::function<WorkReadings()> read;  // both on the pulse's thread
    std::function<void()> tell;          // Error: nobody hears it any more, and the pulse ends
    Clock::duration look_every = std::chrono::seconds(1);
    // Work without a step for so long is not told of any more, however busy it is.
    Clock::duration at_most = std::chrono::minutes(10);
  };
  explicit WorkPulse(Options options);
  WorkPulse(const WorkPulse&) = delete;
  WorkPulse& operator=(const WorkPulse&) = delete;
  ~WorkPulse() = default;

  // Work without steps is done from now on, or a part of it is over: at_most begins anew.
  void begin();
  // The work tells its steps itself, or there is none.
  void rest();

 private:
  void look(const std::stop_token& stop);

  const Options options_;
  std::mutex mutex_{};
  std::condition_variable_any wake_{};
  std::optional<Clock::time_point> until_{};
  std::jthread thread_;  // the last one, which uses the others
};

}  // namespace navtalk::cmd
