// World: the users, how they arrive, wait and leave.
#include "scheduler/simulator/world.h"

#include <algorithm>

#include "scheduler/forecast/wait_estimate.h"

namespace navtalk {
void World::arrive(std::uint32_t session) {
  Visit& visit = visits_[session];
  visit.arrived = now_;
  visit.left = trace_[session].duration;
  if (shipped()) {
    estimator_.arrived(now_);
    if (options_.faults.restarts_per_day > 0) {
      const TimePoint start =
          k_beginning + (now_ - k_beginning) / k_demand_bucket * k_demand_bucket;
      if (buckets_.empty() || buckets_.back().start != start) buckets_.push_back({.start = start});
      ++buckets_.back().arrivals;
    }
  }
  if (queue_.empty() && claim(session)) return;
  ++result_.waited;
  wait(session);
}

void World::wait(std::uint32_t session) {
  Visit& visit = visits_[session];
  queue_.push_back(session);
  events_.at(now_ + from_seconds(options_.patience_s), WorldEvent::Kind::patience, session,
             visit.generation);
  if (!shipped()) return;
  ensure_for_waiters();
  promise(session);
}

// Local first, among equals the fullest, then the oldest: as the store does.
bool World::claim(std::uint32_t session) {
  std::size_t best = machines_.size();
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    if (!gpu.serving() || gpu.sessions >= gpu.slots) continue;
    const bool better =
        best == machines_.size() || gpu.source < snapshot_.gpus[best].source ||
        (gpu.source == snapshot_.gpus[best].source && gpu.sessions > snapshot_.gpus[best].sessions);
    if (better) best = i;
  }
  if (best == machines_.size()) return false;
  Gpu& gpu = snapshot_.gpus[best];
  ++gpu.sessions;
  gpu.reserved_for.text.clear();
  if (gpu.state == State::idle) gpu.since = now_;
  gpu.state = State::running;
  ++gpu.epoch;
  machines_[best].sessions.push_back(session);
  Visit& visit = visits_[session];
  visit.served = now_;
  visit.gpu = machines_[best].number;
  ++busy_;
  events_.at(now_ + visit.left, WorldEvent::Kind::session_end, session, visit.generation);
  if (visit.promise >= 0) waits_.served(std::exchange(visit.promise, -1), now_);
  if (shipped()) prepare_next();
  return true;
}

void World::serve_queue() {
  while (!queue_.empty()) {
    const std::uint32_t head = queue_.front();
    Visit& visit = visits_[head];
    queue_.pop_front();
    if (!claim(head)) {
      queue_.push_front(head);
      return;
    }
    if (visit.first) waits_.add(now_ - visit.arrived);
  }
}

void World::end(std::uint32_t session) {
  const std::size_t index = index_of(visits_[session].gpu);
  std::erase(machines_[index].sessions, session);
  Gpu& gpu = snapshot_.gpus[index];
  if (--gpu.sessions == 0) {
    gpu.state = State::idle;
    gpu.since = now_;
  }
  --busy_;
  if (shipped()) {
    const double length_s = in_seconds(now_ - visits_[session].served);
    estimator_.ended(now_, 1, length_s);
    if (!buckets_.empty()) {
      ++buckets_.back().ended;
      buckets_.back().ended_seconds += length_s;
    }
  }
  serve_queue();
}

// The patience of all is the same: the head's ends first.
void World::give_up() {
  Visit& visit = visits_[queue_.front()];
  ++visit.generation;
  if (visit.first) waits_.add(now_ - visit.arrived);
  ++result_.abandoned;
  queue_.pop_front();
}

void World::promise(std::uint32_t session) {
  const auto eta =
      estimate(queue_.size(), snapshot_.gpus, snapshot_.demand, waits_.eta_correction(), now_);
  if (eta) visits_[session].promise = waits_.promise(now_, eta->p90);
}

}  // namespace navtalk
