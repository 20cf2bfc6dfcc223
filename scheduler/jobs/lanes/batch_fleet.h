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

}  // namespace navtalk
