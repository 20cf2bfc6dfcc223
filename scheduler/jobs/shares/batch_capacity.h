// What the batch lane can render. A plain value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/time.h"
#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

struct BatchCapacity {
  // In which a budget that was larger loses half of what it was larger by.
  static constexpr Duration k_recent_half_life = std::chrono::minutes(5);

  double gpus = 0;           // at most, of the lane
  double rate = 0;           // video-minutes that one GPU renders in a minute, all its time counted
  double utilisation = 0.8;  // the part of the GPUs that the division plans with
  double render_rate = 0;  // as `rate`, without what comes before a job's first frame; 0: not known
  double overhead = 0;     // minutes of a GPU for that, of each job
  VideoMinutes measured{};   // work of the latest finished jobs, of which `rate` was learnt
  double lasting_rate = 0;   // as `rate`, by which tenants save; 0: `rate`
  double recent_budget = 0;  // as it was lately, see remembering()

  // The budget of all tenants, in video-minutes a minute: now, and the one of which they may save ten minutes.
  double budget() const { return utilisation * gpus * rate; }
  double lasting_budget() const {
    return utilisation * gpus * (lasting_rate > 0 ? lasting_rate : rate);
  }
  double rate_of_frames() const { return render_rate > 0 ? render_rate : rate; }

  // Where nothing was learnt: with that rate of a GPU, and that overhead.
  BatchCapacity with_prior(double prior_rate, double prior_overhead) const {
    if (rate > 0 || render_rate > 0) return *this;
    BatchCapacity capacity = *this;
    capacity.rate = prior_rate;
    capacity.overhead = prior_overhead;
    return capacity;
  }

  // With the `rate` that these jobs have together, since the overhead is a larger part of short ones, and with the
  // `lasting_rate` of these jobs and the latest finished ones: a short text that is alone in the lane does not
  // tell what comes next.
  BatchCapacity with_jobs(std::int64_t jobs, VideoMinutes work) const {
    if (render_rate <= 0 || jobs <= 0 || work <= VideoMinutes{}) return *this;
    BatchCapacity capacity = *this;
    const double minutes = work.count() / render_rate + static_cast<double>(jobs) * overhead;
    const double before = rate > 0 ? measured.count() / rate : 0;
    const double finished = rate > 0 ? measured.count() : 0;
    capacity.rate = work.count() / minutes;
    capacity.lasting_rate = (finished + work.count()) / (before + minutes);
    return capacity;
  }

  // That its lasting budget was `recent` so long ago: a larger one at once, and a smaller one gradually.
  BatchCapacity remembering(double recent, Duration passed) const {
    BatchCapacity capacity = *this;
    const double halves = in_seconds(std::max(passed, Duration{})) / in_seconds(k_recent_half_life);
    const double larger = std::max(0.0, recent - lasting_budget());
    capacity.recent_budget = lasting_budget() + larger * std::exp2(-halves);
    return capacity;
  }

  friend bool operator==(const BatchCapacity&, const BatchCapacity&) = default;
};

}  // namespace navtalk
