// What the batch lane remembers of the slots that its jobs needed and of the times without jobs, and the GPUs that it therefore
// keeps. Pure.
//
//   running jobs / 0.8 - what users leave ──► mean of 10 minutes, of 15 where it falls ──► GPUs that are kept
//   times without work ──► their mean ──► how long GPUs wait for the next work
#pragma once

#include "core/base/time.h"

namespace navtalk {

// Jobs render in less than this part of the time of all slots that they have.
inline constexpr double k_most_utilisation = 0.8;
// What jobs need is looked at once in so much time.
inline constexpr Duration k_need_sample = std::chrono::seconds(10);

// Slots that so many running jobs need for that, beside those that users leave them; negative where these are more than enough.
double needed_slots(double running, double left);

// The mean need: `before`, and `now` for the time that has passed since. Not below 0. A need that falls is believed later than one
// that rises, since jobs come in batches.
double smoothed_need(double before, double now, Duration passed);

// GPUs to keep for a mean need. One job keeps one, although it is busy.
int gpus_to_keep(double needed);

// The mean of the times without work after one more; 0: none was seen. Of a long one four cold starts count, so that a night is soon
// forgotten.
Duration learnt_gap(Duration before, Duration gap, Duration cold_start);

// How long GPUs wait for more work while there is none: three of these means where they are no longer than two cold starts; otherwise
// they wait for nothing. As long as none was seen, and at least where they wait, for a cold start.
Duration idle_hold(Duration cold_start, Duration gap);

}  // namespace navtalk
