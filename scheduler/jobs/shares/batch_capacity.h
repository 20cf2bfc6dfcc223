// What the batch lane can render. A plain value.
#pragma once

#include <cstdint>

#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

struct BatchCapacity {
  double gpus = 0;           // at most, of the lane
  double rate = 0;           // video-minutes that one GPU renders in a minute, all its time counted
  double utilisation = 0.8;  // the part of the GPUs that the division plans with
  double render_rate = 0;  // as `rate`, without what comes before a job's first frame; 0: not known
  double overhead = 0;     // minutes of a GPU for that, of each job

  // The budget of all tenants, in video-minutes a minute.
  double budget() const { return utilisation * gpus * rate; }
  double rate_of_frames() const { return render_rate > 0 ? render_rate : rate; }

  // With the `rate` that these jobs have together, since the overhead is a larger part of short ones.
  BatchCapacity with_jobs(std::int64_t jobs, VideoMinutes work) const {
    BatchCapacity capacity = *this;
    if (render_rate > 0 && jobs > 0 && work > VideoMinutes{})
      capacity.rate = 1 / (1 / render_rate + static_cast<double>(jobs) * overhead / work.count());
    return capacity;
  }

  friend bool operator==(const BatchCapacity&, const BatchCapacity&) = default;
};

}  // namespace navtalk
