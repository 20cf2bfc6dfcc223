#include "scheduler/simulator/world.h"

#include <algorithm>
#include <cmath>

#include "core/base/interrupt.h"
#include "scheduler/simulator/start_outcome.h"

namespace navtalk {
namespace {

constexpr Duration k_warm_up = std::chrono::minutes(10);  // before the first user
constexpr Duration k_reconcile = std::chrono::seconds(60);

}  // namespace

void World::configure() {
  limits_ = options_.limits;
  if (strategy_.kind == Strategy::Kind::static_limits) {
    limits_.policy = ScalingPolicy::static_limits;
    limits_.min_free = static_cast<int>(std::lround(strategy_.knob));
    limits_.max_free = static_cast<int>(std::lround(strategy_.second));
  } else if (strategy_.kind == Strategy::Kind::adaptive) {
    limits_.policy = ScalingPolicy::adaptive;
    limits_.wait_probability = strategy_.knob;
    limits_.max_free = std::nullopt;
  } else {
    limits_.max_creates_per_tick = 0;
    limits_.tick = cadence_of(strategy_.kind).period;
  }
  if (!shipped() || options_.local_gpus == 0) limits_.cloud = CloudSwitch::on;
  snapshot_.demand.history_ready = true;
  source(Source::local) = {.available = options_.local_gpus > 0, .slots = options_.slots};
  source(Source::cloud) = {
      .available = true, .slots = options_.slots, .usd_per_hour = options_.usd_per_hour};
  visits_.resize(trace_.size());
}

void World::advance(TimePoint to) {
  cost_.advance(to - now_, busy_);
  now_ = to;
}

std::size_t World::index_of(std::uint32_t number) const {
  // Numbers grow along the rows.
  const auto found = std::lower_bound(
      machines_.begin(), machines_.end(), number,
      [](const Machine& machine, std::uint32_t wanted) { return machine.number < wanted; });
  const bool there = found != machines_.end() && found->number == number;
  return there ? static_cast<std::size_t>(found - machines_.begin()) : machines_.size();
}

void World::handle(const WorldEvent& event) {
  using Kind = WorldEvent::Kind;
  switch (event.kind) {
    case Kind::tick:
      return tick();
    case Kind::reconcile:
      events_.at(now_ + k_reconcile, Kind::reconcile);
      if (now_ >= down_until_) reconcile();
      return;
    case Kind::restart:
      return restart();
    case Kind::session_end:
      if (visits_[event.subject].generation == event.generation) end(event.subject);
      return;
    case Kind::patience: {
      const bool waits = !queue_.empty() && queue_.front() == event.subject;
      if (waits && visits_[event.subject].generation == event.generation) give_up();
      return;
    }
    case Kind::ready:
    case Kind::refused:
    case Kind::call_lost:
    case Kind::fails:
    case Kind::crash:
      break;
  }
  const std::size_t index = index_of(event.subject);
  if (index == machines_.size() || machines_[index].generation != event.generation) return;
  if (now_ < down_until_ && event.kind != Kind::crash) {  // nobody looks
    events_.at(down_until_, event.kind, event.subject, event.generation);
  } else if (event.kind == Kind::ready) {
    ready(index);
  } else if (event.kind == Kind::call_lost) {
    lose_call(index);
  } else if (event.kind == Kind::refused) {
    record(snapshot_.gpus[index], Operation::create, Attempt::Result::no_capacity, k_call);
    remove(index);
  } else {
    fail(index, Attempt::Result::failed);
  }
}

SimulatorResult World::result() const {
  SimulatorResult result = result_;
  result.sessions = trace_.size();
  result.p_wait = static_cast<double>(result.waited) / static_cast<double>(trace_.size());
  waits_.report(result, trace_.size());
  cost_.report(result, options_.usd_per_hour);
  result.reversals_per_h = reversals_ / (in_seconds(now_ - k_beginning) / 3600);
  return result;
}

SimulatorResult World::run(const std::stop_token& stop) {
  events_.at(now_, WorldEvent::Kind::tick);
  events_.at(now_ + k_reconcile, WorldEvent::Kind::reconcile);
  if (options_.faults.restarts_per_day > 0) {
    events_.at(now_ + from_seconds(24 * 3600 / options_.faults.restarts_per_day),
               WorldEvent::Kind::restart);
  }
  const TimePoint first = k_beginning + k_warm_up;
  std::size_t next = 0;
  for (std::uint64_t step = 0; next < trace_.size() || !queue_.empty() || busy_ > 0; ++step) {
    if (step % 65536 == 0) throw_if_stopped(stop);
    const bool arrival = next < trace_.size() && first + trace_[next].arrival < events_.next_at();
    if (arrival) {
      advance(first + trace_[next].arrival);
      arrive(static_cast<std::uint32_t>(next++));
      continue;
    }
    const WorldEvent event = events_.take();
    advance(event.at);
    handle(event);
  }
  return result();
}

}  // namespace navtalk
