#include "scheduler/jobs/shares/job_pace.h"

#include <algorithm>

namespace navtalk {
namespace {

constexpr double k_newest_weight = 0.05;  // of the latest job, once many of its length are known
constexpr int k_overheads = 20;           // of which the overhead is the mean

// All work by all of its time: as a mean over jobs, short ones would say how long long ones take.
void learn_rate(double& rate, VideoMinutes work, Duration time, double weight) {
  const double minutes = in_seconds(time) / 60 / work.count();
  const double before = rate > 0 ? 1 / rate : minutes;
  rate = 1 / (before + weight * (minutes - before));
}

}  // namespace

void JobPace::learn(VideoMinutes work, Duration took, std::optional<Duration> rendering) {
  if (work <= VideoMinutes{} || took <= Duration{}) return;
  const double known = (1 - k_newest_weight) * measured.count();
  const double weight = work.count() / (known + work.count());
  measured = work + VideoMinutes(from_seconds(60 * known));
  learn_rate(rate, work, took, weight);
  if (!rendering || *rendering <= Duration{} || *rendering > took) return;
  learn_rate(render_rate, work, *rendering, weight);
  overheads = std::min(overheads + 1, k_overheads);
  overhead += (took - *rendering - overhead) / overheads;
}

}  // namespace navtalk
