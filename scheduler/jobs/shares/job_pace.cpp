#include "scheduler/jobs/shares/job_pace.h"

#include <algorithm>

namespace navtalk {
namespace {

constexpr double k_newest_weight = 0.05;  // of the latest job, once many of its length are known
constexpr int k_overheads = 20;           // of which the overhead is the mean

VideoMinutes faded(VideoMinutes work) {
  return VideoMinutes(from_seconds(60 * (1 - k_newest_weight) * work.count()));
}

// All work by all of its time: as a mean over jobs, short ones would say how long long ones take.
void learn_rate(double& rate, VideoMinutes work, Duration time, VideoMinutes known) {
  const double minutes = in_seconds(time) / 60 / work.count();
  const double before = rate > 0 ? 1 / rate : minutes;
  const double weight = work.count() / (known + work).count();
  rate = 1 / (before + weight * (minutes - before));
}

}  // namespace

void JobPace::learn(VideoMinutes work, Duration took, std::optional<Duration> rendering) {
  if (work <= VideoMinutes{} || took <= Duration{}) return;
  measured = faded(measured);
  told = faded(told);
  learn_rate(rate, work, took, measured);
  measured += work;
  if (!rendering || *rendering <= Duration{} || *rendering > took) return;
  learn_rate(render_rate, work, *rendering, told);
  told += work;
  overheads = std::min(overheads + 1, k_overheads);
  overhead += (took - *rendering - overhead) / overheads;
}

double JobPace::part_told() const {
  return measured > VideoMinutes{} ? told.count() / measured.count() : 0;
}

double JobPace::expected_render_rate() const {
  if (render_rate <= 0 || rate <= 0) return 0;
  return 1 / (part_told() / render_rate + (1 - part_told()) / rate);
}

double JobPace::expected_overhead() const { return part_told() * in_seconds(overhead) / 60; }

}  // namespace navtalk
