// World: the GPUs, how they start, fail and end.
#include "scheduler/simulator/world.h"

#include <algorithm>
#include <utility>

#include "scheduler/provision/backoff.h"
#include "scheduler/provision/supply.h"
#include "scheduler/simulator/start_outcome.h"

namespace navtalk {
namespace {

constexpr Duration k_unknown_grace = std::chrono::seconds(180);

}  // namespace

int World::coming() const {
  int slots = 0;
  for (const Gpu& gpu : snapshot_.gpus) {
    if (gpu.serving() || gpu.state == State::starting) slots += gpu.slots - gpu.sessions;
  }
  return slots;
}

int World::creatable(Source source) const {
  if (source == Source::cloud) return 1 << 20;
  int used = 0;
  for (const Gpu& gpu : snapshot_.gpus) used += gpu.source == Source::local ? 1 : 0;
  return options_.local_gpus - used;
}

void World::prepare_next() {
  constexpr int k_spare = 1;
  const int spare = std::min(k_spare, spare_slots(limits_));
  if (coming() < queued() + spare) provision(false);
}

void World::ensure_for_waiters() {
  const int at_once = 4;
  for (int i = 0; i < at_once && coming() < queued(); ++i) provision(true);
}

// As scheduler/provision/supply.h does: wake, else create, local before cloud.
void World::provision(bool for_waiter) {
  const auto may = [&, learned = estimator_.demand(now_)](Source source, Operation operation) {
    return may_retry(learned, source, operation, snapshot_.gpus, now_);
  };
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    if (gpu.state == State::paused && may(gpu.source, Operation::wake)) {
      wake(i);
      if (for_waiter) snapshot_.gpus[i].reserved_for.text = "w";
      return;
    }
  }
  if (limits_.max_gpus > 0 && static_cast<int>(machines_.size()) >= limits_.max_gpus) return;
  const bool cloud = limits_.cloud == CloudSwitch::on ||
                     (limits_.cloud == CloudSwitch::automatic && snapshot_.memory.cloud_on);
  if (creatable(Source::local) > 0 && may(Source::local, Operation::create)) {
    create(Source::local, for_waiter);
  } else if (cloud && may(Source::cloud, Operation::create)) {
    create(Source::cloud, for_waiter);
  }
}

void World::create(Source source, bool for_waiter) {
  const std::uint32_t number = numbers_++;
  Gpu gpu{.id = GpuId{"g" + std::to_string(number)},
          .source = source,
          .slots = options_.slots,
          .usd_per_hour = source == Source::cloud ? options_.usd_per_hour : 0,
          .created_at = now_};
  if (for_waiter) gpu.reserved_for.text = "w";
  snapshot_.gpus.push_back(std::move(gpu));
  machines_.push_back({.number = number});
  start(machines_.size() - 1, Operation::create);
}

void World::wake(std::size_t index) { start(index, Operation::wake); }

void World::start(std::size_t index, Operation operation) {
  Gpu& gpu = snapshot_.gpus[index];
  Machine& machine = machines_[index];
  gpu.state = State::starting;
  gpu.since = now_;
  gpu.intent.operation = operation;
  machine.booted = false;
  machine.known = true;
  ++machine.generation;
  ++result_.starts;
  const StartOutcome outcome = start_outcome(options_, gpu.source, operation, attempts_++);
  const bool made = outcome.kind != StartOutcome::Kind::no_capacity &&
                    outcome.kind != StartOutcome::Kind::unknown_none;
  pay(machine, gpu.source, made);
  const auto soon = [&](Duration after, WorldEvent::Kind kind) {
    events_.at(now_ + after, kind, machine.number, machine.generation);
  };
  switch (outcome.kind) {
    case StartOutcome::Kind::ready:
      return soon(outcome.after, WorldEvent::Kind::ready);
    case StartOutcome::Kind::no_capacity:
      return soon(k_call, WorldEvent::Kind::refused);
    case StartOutcome::Kind::fails:
      return soon(outcome.after, WorldEvent::Kind::fails);
    case StartOutcome::Kind::hangs:
      return;
    case StartOutcome::Kind::unknown:
      soon(k_call, WorldEvent::Kind::call_lost);
      return soon(std::max(outcome.after, k_call), WorldEvent::Kind::ready);
    case StartOutcome::Kind::unknown_none:
      return soon(k_call, WorldEvent::Kind::call_lost);
  }
}

void World::pause(std::size_t index) {
  snapshot_.gpus[index].state = State::paused;
  snapshot_.gpus[index].since = now_;
  ++machines_[index].generation;
  pay(machines_[index], snapshot_.gpus[index].source, false);
}

void World::ready(std::size_t index) {
  Gpu& gpu = snapshot_.gpus[index];
  Machine& machine = machines_[index];
  if (!machine.known) {
    machine.booted = true;
    return;
  }
  record(gpu, gpu.intent.operation, Attempt::Result::ok, now_ - gpu.since);
  gpu.intent.operation = Operation::none;
  gpu.state = State::idle;
  gpu.since = now_;
  if (const auto crash = crash_after(options_, machine.number * 31ULL + machine.generation)) {
    events_.at(now_ + *crash, WorldEvent::Kind::crash, machine.number, machine.generation);
  }
  serve_queue();
}

void World::fail(std::size_t index, Attempt::Result result) {
  Gpu& gpu = snapshot_.gpus[index];
  if (gpu.state == State::starting) record(gpu, gpu.intent.operation, result, now_ - gpu.since);
  gpu.state = State::failed;
  gpu.since = now_;
  gpu.sessions = 0;
  gpu.intent.operation = Operation::none;
  gpu.reserved_for.text.clear();
  ++machines_[index].generation;
  interrupt(std::exchange(machines_[index].sessions, {}));
}

// The users of a broken GPU come again with what is left of their sessions.
void World::interrupt(const std::vector<std::uint32_t>& sessions) {
  for (const std::uint32_t session : sessions) {
    Visit& visit = visits_[session];
    ++visit.generation;
    visit.left -= now_ - visit.served;
    visit.first = false;
    --busy_;
    ++result_.interrupted;
  }
  for (const std::uint32_t session : sessions) {
    if (!queue_.empty() || !claim(session)) wait(session);
  }
}

void World::remove(std::size_t index) {
  if (snapshot_.gpus[index].sessions > 0) ++result_.busy_reclaimed;
  pay(machines_[index], snapshot_.gpus[index].source, false);
  snapshot_.gpus.erase(snapshot_.gpus.begin() + static_cast<std::ptrdiff_t>(index));
  machines_.erase(machines_.begin() + static_cast<std::ptrdiff_t>(index));
}

// The provider's answer did not come. Reconciling finds out by the GPU's name; who takes it for a
// failure and forgets the row leaks what was made.
void World::lose_call(std::size_t index) {
  machines_[index].known = false;
  if (options_.reconcile) return;
  if (machines_[index].paid) cost_.leaks();
  record(snapshot_.gpus[index], Operation::create, Attempt::Result::failed, k_call);
  remove(index);
}

void World::reconcile() {
  if (!options_.reconcile) return;
  // Backwards: ready() may add rows at the end, fail() none.
  for (std::size_t i = machines_.size(); i-- > 0;) {
    Machine& machine = machines_[i];
    if (machine.known) continue;
    if (machine.paid) {
      machine.known = true;
      if (machine.booted) ready(i);
    } else if (now_ - snapshot_.gpus[i].since >= k_unknown_grace) {
      machine.known = true;
      fail(i, Attempt::Result::failed);
    }
  }
}

void World::pay(Machine& machine, Source source, bool pays) {
  if (machine.paid == pays) return;
  machine.paid = pays;
  if (pays) {
    cost_.starts(source);
  } else {
    cost_.ends(source);
  }
}

void World::record(const Gpu& gpu, Operation operation, Attempt::Result result, Duration took) {
  if (!shipped()) return;
  const Attempt attempt{
      .at = now_, .source = gpu.source, .operation = operation, .result = result, .took = took};
  estimator_.attempted(attempt);
  if (options_.faults.restarts_per_day > 0) history_.push_back(attempt);
}

}  // namespace navtalk
