// How many GPUs the batch lane should have, and what the live lane lends it. Pure.
#pragma once

#include "core/base/time.h"
#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

struct BatchFleet {
  VideoMinutes queued{};  // released and queued work, and what is left of running jobs
  int gpus = 0;           // the lane's own, those that start included
  int most_gpus = 0;
  double rate = 0;           // video-minutes that one GPU renders in a minute, learnt
  Duration cold_start{};     // until a new GPU renders: p90, learnt
  double growth_factor = 2;  // X: the fleet grows when the work lasts for more than X cold starts
  Duration goal = std::chrono::minutes(10);  // the work should be done within this time
};

// GPUs to start now. None while the fleet there is renders the queue within X cold starts, because new
// GPUs would come when little is left. From none the first starts at once. Otherwise so many that the
// queue is done within the goal:
//   k = ceil((V - N r L) / (r (goal - L))) - N,  at least 1, goal at least X L and above L.
int gpus_to_start(const BatchFleet& fleet);

// GPUs of the lane's own that keep it below `utilisation` at this rate of arriving work (video-minutes
// a minute), at least one while there is work.
int gpus_for(double arriving, double rate, double utilisation, bool any_work);

// The live lane's reserve, while batch may use it.
struct LentReserve {
  int reserve = 0;       // GPUs that the live lane keeps free
  int live_waiting = 0;  // users without a slot
  int live_free = 0;     // live GPUs without session or job
  int lent = 0;          // GPUs of the live lane that render jobs
};

// A job gives its GPU back at the end of its segment, or after this time.
inline constexpr Duration k_reclaim_within = std::chrono::seconds(10);

// Above 0: GPUs that batch may take besides; below 0: as many jobs are to yield now. Live users who wait
// come first; no session is ever touched.
int change_of_loan(const LentReserve& reserve);

}  // namespace navtalk
