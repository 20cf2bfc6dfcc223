// World: the scaler's side, its ticks and what it asks for.
#include "scheduler/simulator/world.h"

#include "scheduler/simulator/start_outcome.h"

namespace navtalk {
namespace {

constexpr Duration k_remembered = std::chrono::hours(24);  // by the store

}  // namespace

void World::plan_for_baseline() {
  const Cadence cadence = cadence_of(strategy_.kind);
  const int target = baseline_target(strategy_, busy_ + queued());
  window_.add(now_, target);
  window_.forget(now_ - cadence.hold);
  plan_for(snapshot_, limits_, {.least = target, .most = window_.targets().front().target}, now_,
           plan_);
}

void World::tick() {
  events_.at(now_ + limits_.tick, WorldEvent::Kind::tick);
  if (now_ < down_until_) return;
  snapshot_.queued = queued();
  for (const Source source : {Source::local, Source::cloud}) {
    this->source(source).creatable = creatable(source);
  }
  if (shipped()) {
    snapshot_.demand = estimator_.demand(now_);
    window_.forget(now_ - limits_.hold_down);
    snapshot_.recent = window_.targets();
    decide(snapshot_, limits_, now_, plan_);
    window_.add(now_, plan_.target.least);
  } else {
    plan_for_baseline();
  }
  snapshot_.memory = plan_.memory;
  if (!plan_.actions.empty()) apply();
}

void World::apply() {
  chosen_.clear();
  int direction = 0;
  for (const Action& action : plan_.actions) {
    const bool grows = action.kind == Action::Kind::create || action.kind == Action::Kind::wake;
    const bool shrinks = action.kind == Action::Kind::destroy || action.kind == Action::Kind::pause;
    direction = grows ? 1 : shrinks ? -1 : direction;
    // Rows move when one is removed: their numbers stay.
    if (action.kind != Action::Kind::create) {
      chosen_.emplace_back(action.kind, machines_[action.index].number);
    }
  }
  if (direction != 0 && direction_ != 0 && direction != direction_) ++reversals_;
  if (direction != 0) direction_ = direction;
  for (const auto& [kind, number] : chosen_) {
    const std::size_t index = index_of(number);
    if (kind == Action::Kind::wake) wake(index);
    if (kind == Action::Kind::pause) pause(index);
    if (kind == Action::Kind::fail) fail(index, Attempt::Result::timed_out);
    const bool removes = kind == Action::Kind::destroy || kind == Action::Kind::clear_failed;
    if (removes) remove(index);
  }
  for (const Action& action : plan_.actions) {
    if (action.kind == Action::Kind::create) create(action.source, false);
  }
}

// The controller dies and comes back with what the store remembers. Calls on their way are lost.
void World::restart() {
  events_.at(now_ + from_seconds(24 * 3600 / options_.faults.restarts_per_day),
             WorldEvent::Kind::restart);
  down_until_ = now_ + options_.faults.restart;
  for (std::size_t i = machines_.size(); i-- > 0;) {
    const Gpu& gpu = snapshot_.gpus[i];
    const bool called = gpu.state == State::starting && now_ - gpu.since < k_call &&
                        gpu.source == Source::cloud && gpu.intent.operation == Operation::create;
    if (called && machines_[i].known) lose_call(i);
  }
  if (!shipped()) return;
  while (!buckets_.empty() && buckets_.front().start < now_ - k_remembered) buckets_.pop_front();
  while (!history_.empty() && history_.front().at < now_ - k_remembered) history_.pop_front();
  const std::vector<DemandBucket> buckets(buckets_.begin(), buckets_.end());
  const std::vector<Attempt> attempts(history_.begin(), history_.end());
  estimator_ = DemandEstimator(now_);
  estimator_.load(buckets, attempts, now_);
}

}  // namespace navtalk
