// A token bucket in video-minutes. A job may be released while the bucket is above zero, however long
// the job is: the bucket then goes into debt, which later refills pay first. So the longest job is
// released eventually, and over time no more is released than was refilled. Pure.
#pragma once

#include <algorithm>

#include "core/base/time.h"
#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

struct WorkBucket {
  // What may be saved while there is no demand.
  static constexpr Duration k_burst = std::chrono::minutes(10);

  double minutes = 0;  // below 0: debt
  TimePoint at{};      // when it was refilled; the epoch: never

  // At this rate (video-minutes a minute) since the last time, up to `most` video-minutes; a new bucket
  // for one second, so that its first job does not wait for the next step. What was saved before is kept up to
  // `kept`, which is not less than `most`.
  void refill(double rate, double most, double kept, TimePoint now) {
    const double known_min = now > at ? in_seconds(now - at) / 60 : 0;
    const double passed_min = at == TimePoint{} ? 1.0 / 60 : known_min;
    const double refilled = std::min(minutes + rate * passed_min, most);
    minutes = std::min(std::max(minutes, refilled), kept);
    at = now;
  }
  bool may_release() const { return minutes > 0; }
  void take(VideoMinutes work) { minutes -= work.count(); }

  friend bool operator==(const WorkBucket&, const WorkBucket&) = default;
};

}  // namespace navtalk
