// How long jobs keep a GPU, learnt from finished ones: a part that each job has before its first frame (a renderer that starts, an
// avatar that is prepared), and a part that grows with its work. Pure.
//
//   claimed ──── overhead ────► first frame ──── work / render_rate ────► done
#pragma once

#include <optional>

#include "core/base/time.h"
#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

struct JobPace {
  // Video-minutes a minute, all the time of the jobs counted; 0: nothing was learnt.
  double rate = 0;
  VideoMinutes measured{};  // work of the jobs of which that was learnt, the latest ones above all
  // The part of it that is work of jobs whose worker told how long it rendered.
  VideoMinutes told{};
  // Of those jobs: the rate of that, and what each took beside it.
  double render_rate = 0;
  Duration overhead{};
  int overheads = 0;  // the number of jobs of which the overhead is the mean

  // A job that took so long from its only claim to its end; `rendering` is of that.
  void learn(VideoMinutes work, Duration took, std::optional<Duration> rendering);

  // What is to be expected of a job by all that was learnt: work whose worker told nothing counts with `rate` and
  // no overhead, so that the first job whose worker tells does not speak for all before it.
  double expected_render_rate() const;  // video-minutes a minute; 0: no worker told
  double expected_overhead() const;     // minutes

  friend bool operator==(const JobPace&, const JobPace&) = default;

 private:
  double part_told() const;
};

}  // namespace navtalk
