// LaneWorld: how jobs give their slots back, to other tenants and to users.
#include <algorithm>
#include <utility>
#include <vector>

#include "scheduler/jobs/lanes/lent_slots.h"
#include "scheduler/simulator/jobs/lane_world.h"

namespace navtalk {

void LaneWorld::plan_preemptions() {
  gives_way_.reset();
  if (users_.waiting() > 0) return;
  const auto room =
      static_cast<std::size_t>(headroom_.room(static_cast<std::int64_t>(running_.size()), now_));
  SlotNeed need{.lacks_slot = slots_.free() == 0 && waiting_ > 0, .room = room};
  if (!need.lacks_slot && need.room == 0) return;
  std::vector<SlotTenant> tenants;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const TenantLine& line = lines_[i];
    tenants.push_back({.use = use_of(line), .place = line.place});
    if (line.tenant == headroom_.tenant) need.flood = i;
    if (released_[i].empty()) continue;
    const std::size_t job = released_[i].front();
    tenants.back().first = ClaimCandidate{.order = static_cast<std::int64_t>(i),
                                          .plan = line.terms.plan,
                                          .weight = line.terms.weight,
                                          .place = line.place,
                                          .waits_since = jobs_[job].released_at};
  }
  std::vector<SlotRun> runs;
  for (const std::size_t index : running_) {
    const SimulatedJob& job = jobs_[index];
    const int done = segments_done(index);
    const VideoMinutes placed = job.work - job.finished;
    runs.push_back({.job = static_cast<std::int64_t>(index),
                    .tenant = job.tenant,
                    .since = job.claimed_at,
                    .left = placed - VideoMinutes(done * k_segment.audio()),
                    .placed = placed});
  }
  for (const Preemption& one : preemptions(tenants, runs, times_, now_, {}, need)) {
    for (const std::size_t run : one.runs) {
      const auto index = static_cast<std::size_t>(runs[run].job);
      const std::pair at(gives_way_at(index), index);
      if (at.first != TimePoint::max() && (!gives_way_ || at < *gives_way_)) gives_way_ = at;
    }
  }
}

int LaneWorld::segments_done(std::size_t index) const {
  const Duration passed = now_ - jobs_[index].claimed_at - from_seconds(options_.overhead_s);
  return std::max(static_cast<int>(passed / segment_time(index)), 0);
}

// Behind its next segment, which is not the last one.
TimePoint LaneWorld::gives_way_at(std::size_t index) const {
  const SimulatedJob& job = jobs_[index];
  const int segments = segments_done(index) + 1;
  if (job.work - job.finished <= VideoMinutes(segments * k_segment.audio()))
    return TimePoint::max();
  return segment_end(index, segments);
}

TimePoint LaneWorld::segment_end(std::size_t index, int segments) const {
  const TimePoint begun = jobs_[index].claimed_at + from_seconds(options_.overhead_s);
  return begun + segments * segment_time(index);
}

void LaneWorld::preempt(std::size_t index) {
  ++preempted_;
  give_slot_back(index);
}

void LaneWorld::yield_to_users() {
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (const std::size_t index : running_) runs.emplace_back(jobs_[index].claim, index);
  std::sort(runs.begin(), runs.end());
  for (std::size_t i = first_to_yield(runs.size(), users_.waiting()); i < runs.size(); ++i) {
    const std::size_t index = runs[i].second;
    SimulatedJob& job = jobs_[index];
    if (std::exchange(job.yields, true)) continue;
    const TimePoint at =
        std::min(segment_end(index, segments_done(index) + 1), now_ + k_yield_within);
    yields_.push({at, index, job.epoch});
  }
}

// The slots of runs that have yielded for long enough. What was rendered of a segment is lost.
void LaneWorld::take_back() {
  while (!yields_.empty() && yields_.top().at <= now_) {
    const End end = yields_.top();
    yields_.pop();
    const SimulatedJob& job = jobs_[end.job];
    if (job.epoch != end.epoch || job.claimed_at == TimePoint{}) continue;
    const TimePoint kept = segment_end(end.job, segments_done(end.job));
    repeated_s_ += in_seconds(std::max(now_ - kept, Duration{}));
    ++taken_back_;
    give_slot_back(end.job);
  }
}

// As charges.h says: what is not rendered is given back.
void LaneWorld::give_slot_back(std::size_t index) {
  SimulatedJob& job = jobs_[index];
  TenantLine& line = lines_[job.tenant];
  const VideoMinutes done(segments_done(index) * k_segment.audio());
  job.finished += done;
  line.place.finished -= (job.work - job.finished).count() / line.terms.weight;
  leave(index);
  ++job.epoch;
  job.yields = false;
  drop_old_ends();
  ++waiting_;
  ++line.released_jobs;
  line.released += job.work;
  job.released_at = now_;
  auto& queue = released_[job.tenant];
  queue.insert(std::lower_bound(queue.begin(), queue.end(), index), index);
}

}  // namespace navtalk
