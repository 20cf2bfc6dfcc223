#include "scheduler/simulator/world.h"

#include <algorithm>
#include <utility>

#include "scheduler/provision/backoff.h"
#include "scheduler/provision/supply.h"
#include "scheduler/simulator/start_outcome.h"

namespace navtalk {
namespace {

constexpr Duration k_unclear_grace = std::chrono::seconds(180);

}  // namespace

int World::coming() const {
  int slots = 0;
  for (const Gpu& gpu : snapshot_.gpus) {
    const bool answers = gpu.state == State::idle || gpu.state == State::running;
    if (answers || gpu.state == State::starting) slots += gpu.slots - gpu.sessions;
  }
  return slots;
}

int World::room(Source source) const {
  if (source == Source::cloud) return 1 << 20;
  int used = 0;
  for (const Gpu& gpu : snapshot_.gpus) used += gpu.source == Source::local ? 1 : 0;
  return options_.local_gpus - used;
}

void World::prepare_next() {
  constexpr int k_spare = 1;
  const int spare = std::min(k_spare, spare_slots(limits_));
  if (coming() < queued() + spare) bring(false);
}

void World::bring_for_waiters() {
  const int at_once = 4;
  for (int i = 0; i < at_once && coming() < queued(); ++i) bring(true);
}

// As scheduler/provision/supply.h does: wake, else create, local before cloud.
void World::bring(bool for_waiter) {
  const auto may = [&, learnt = estimator_.demand(now_)](Source source, Operation operation) {
    return may_retry(learnt, source, operation, snapshot_.gpus, now_);
  };
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    if (gpu.state == State::paused && may(gpu.source, Operation::wake)) {
      wake(i);
      if (for_waiter) snapshot_.gpus[i].reserved_for.text = "w";
      return;
    }
  }
  if (limits_.max_gpus > 0 && static_cast<int>(places_.size()) >= limits_.max_gpus) return;
  const bool cloud = limits_.cloud == CloudSwitch::on ||
                     (limits_.cloud == CloudSwitch::automatic && snapshot_.memory.cloud_on);
  if (room(Source::local) > 0 && may(Source::local, Operation::create)) {
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
  places_.push_back({.number = number});
  start(places_.size() - 1, Operation::create);
}

void World::wake(std::size_t index) { start(index, Operation::wake); }

void World::start(std::size_t index, Operation operation) {
  Gpu& gpu = snapshot_.gpus[index];
  Place& place = places_[index];
  gpu.state = State::starting;
  gpu.since = now_;
  gpu.intent.operation = operation;
  place.booted = false;
  place.known = true;
  ++place.turn;
  ++result_.starts;
  const Fate fate = navtalk::fate(options_, gpu.source, operation, attempts_++);
  const bool made = fate.kind != Fate::Kind::no_capacity && fate.kind != Fate::Kind::unclear_none;
  pay(place, gpu.source, made);
  const auto soon = [&](Duration after, Happening::Kind kind) {
    happenings_.at(now_ + after, kind, place.number, place.turn);
  };
  switch (fate.kind) {
    case Fate::Kind::ready:
      return soon(fate.after, Happening::Kind::ready);
    case Fate::Kind::no_capacity:
      return soon(k_call, Happening::Kind::refused);
    case Fate::Kind::fails:
      return soon(fate.after, Happening::Kind::fails);
    case Fate::Kind::hangs:
      return;
    case Fate::Kind::unclear:
      soon(k_call, Happening::Kind::call_lost);
      return soon(std::max(fate.after, k_call), Happening::Kind::ready);
    case Fate::Kind::unclear_none:
      return soon(k_call, Happening::Kind::call_lost);
  }
}

void World::pause(std::size_t index) {
  snapshot_.gpus[index].state = State::paused;
  snapshot_.gpus[index].since = now_;
  ++places_[index].turn;
  pay(places_[index], snapshot_.gpus[index].source, false);
}

void World::ready(std::size_t index) {
  Gpu& gpu = snapshot_.gpus[index];
  Place& place = places_[index];
  if (!place.known) {
    place.booted = true;
    return;
  }
  record(gpu, gpu.intent.operation, Attempt::Result::ok, now_ - gpu.since);
  gpu.intent.operation = Operation::none;
  gpu.state = State::idle;
  gpu.since = now_;
  if (const auto crash = crash_after(options_, place.number * 31ULL + place.turn)) {
    happenings_.at(now_ + *crash, Happening::Kind::crash, place.number, place.turn);
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
  ++places_[index].turn;
  interrupt(std::exchange(places_[index].sessions, {}));
}

// The users of a broken GPU come again with what is left of their sessions.
void World::interrupt(const std::vector<std::uint32_t>& sessions) {
  for (const std::uint32_t session : sessions) {
    Visit& visit = visits_[session];
    ++visit.turn;
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
  pay(places_[index], snapshot_.gpus[index].source, false);
  snapshot_.gpus.erase(snapshot_.gpus.begin() + static_cast<std::ptrdiff_t>(index));
  places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(index));
}

// The provider's answer did not come. Reconciling finds out by the GPU's name; who takes it for a
// failure and forgets the row leaks what was made.
void World::lose_call(std::size_t index) {
  places_[index].known = false;
  if (options_.reconcile) return;
  if (places_[index].paid) meter_.leaks();
  record(snapshot_.gpus[index], Operation::create, Attempt::Result::failed, k_call);
  remove(index);
}

void World::reconcile() {
  if (!options_.reconcile) return;
  // Backwards: ready() may add rows at the end, fail() none.
  for (std::size_t i = places_.size(); i-- > 0;) {
    Place& place = places_[i];
    if (place.known) continue;
    if (place.paid) {
      place.known = true;
      if (place.booted) ready(i);
    } else if (now_ - snapshot_.gpus[i].since >= k_unclear_grace) {
      place.known = true;
      fail(i, Attempt::Result::failed);
    }
  }
}

void World::pay(Place& place, Source source, bool pays) {
  if (place.paid == pays) return;
  place.paid = pays;
  if (pays) {
    meter_.starts(source);
  } else {
    meter_.ends(source);
  }
}

void World::record(const Gpu& gpu, Operation operation, Attempt::Result result, Duration took) {
  if (!shipped()) return;
  const Attempt attempt{
      .at = now_, .source = gpu.source, .operation = operation, .result = result, .took = took};
  estimator_.attempted(attempt);
  if (options_.mishaps.restarts_per_day > 0) history_.push_back(attempt);
}

}  // namespace navtalk
