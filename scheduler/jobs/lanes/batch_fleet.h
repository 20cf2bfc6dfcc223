// How many GPUs the batch lane should have, and how many the live lane lends it. Pure.
#pragma once

#include "core/base/time.h"
#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

struct BatchFleet {
  VideoMinutes queued{};  // queued and released work, and the rest of running jobs
  int gpus = 0;           // the lane's own, including those that start
  int most_gpus = 0;
  double rate = 0;           // video-minutes that one GPU renders in a minute, as measured
  Duration cold_start{};     // until a new GPU renders: p90, as measured
  double growth_factor = 2;  // X: the fleet grows when the work lasts for more than X cold starts
  Duration goal = std::chrono::minutes(10);  // the work should be done within this time
};

// GPUs to start now. None while the present fleet renders the queue within X cold starts, because new
// GPUs would be ready when little is left. A fleet of none starts its first GPU at once. Otherwise as many
// as the queue needs to be done within the goal:
//   k = ceil((V - N r L) / (r (goal - L))) - N,  at least 1, goal at least X L and above L.
int gpus_to_start(const BatchFleet& fleet);

// GPUs of the lane's own that keep it below `utilisation` at this rate of arriving work (video-minutes
// a minute), at least one while there is work.
int gpus_for(double arriving, double rate, double utilisation, bool any_work);

// The state of the live lane, whose reserve batch may use.
struct LentReserve {
  int reserve = 0;       // GPUs that the live lane keeps free
  int live_waiting = 0;  // users without a slot
  int live_free = 0;     // live GPUs without session or job
  int lent = 0;          // GPUs of the live lane that render jobs
};

// A job that yields gives its GPU back at the end of its segment, at the latest after this time.
inline constexpr Duration k_reclaim_within = std::chrono::seconds(10);

// Above 0: how many more GPUs batch may take; below 0: how many jobs must yield now. Waiting users come
// first; no session is ever interrupted.
int change_of_loan(const LentReserve& reserve);

}  // namespace navtalk
