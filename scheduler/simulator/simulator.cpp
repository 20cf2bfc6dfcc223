#include "scheduler/simulator/simulator.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/interrupt.h"
#include "scheduler/eta.h"
#include "scheduler/simulator/fate.h"

namespace navtalk {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint k_beginning{std::chrono::hours(24 * 365 * 30)};
constexpr Duration k_warm_up = 10min;  // before the first user
constexpr Duration k_reconcile = 60s;
constexpr Duration k_unclear_grace = 180s;
constexpr std::size_t k_promises_kept = 200;
constexpr std::size_t k_cloud = static_cast<std::size_t>(Source::runpod);
constexpr std::size_t k_local = static_cast<std::size_t>(Source::local);

struct Happening {
  enum class Kind : std::uint8_t {
    ready,      // a GPU has started
    refused,    // the provider answered: no capacity
    call_lost,  // the provider's answer did not come
    fails,      // a start broke
    crash,
    session_end,
    patience,  // a waiting user has had enough
    reconcile,
    restart,
    tick,
  };
  TimePoint at{};
  std::uint64_t order = 0;  // among equals the one that was written first
  Kind kind = Kind::tick;
  std::uint32_t subject = 0;  // GPU's number, session's number
  std::uint32_t turn = 0;     // of the subject when it was written: what is stale is passed over

  bool operator>(const Happening& other) const {
    return std::tie(at, order) > std::tie(other.at, other.order);
  }
};
using Kind = Happening::Kind;

// What the simulator knows of a GPU beside its row.
struct Place {
  std::uint32_t number = 0;
  std::uint32_t turn = 0;  // grows with every start: its older events are stale
  bool paid = false;       // there is an instance
  bool known = true;       // its provider's id is recorded
  bool booted = false;     // would be ready if it were known
  std::vector<std::uint32_t> sessions{};
};

struct Visit {
  TimePoint arrived{};
  Duration left{};        // still to be served
  TimePoint served{};     // since
  std::uint32_t gpu = 0;  // its number
  std::uint32_t turn = 0;
  bool first = true;  // not interrupted yet
  std::int32_t promise = -1;
};

class World {
 public:
  World(const Trace& trace, const Strategy& strategy, const SimulatorOptions& options)
      : trace_(trace), strategy_(strategy), options_(options), estimator_(k_beginning) {
    configure();
  }

  SimulatorResult run(const std::stop_token& stop);

 private:
  void configure();
  // --- time and money
  void advance(TimePoint to);
  void at(TimePoint when, Kind kind, std::uint32_t subject = 0, std::uint32_t turn = 0) {
    events_.push_back({when, order_++, kind, subject, turn});
    std::push_heap(events_.begin(), events_.end(), std::greater<>());
  }
  void handle(const Happening& event);
  // --- users
  void arrive(std::uint32_t session);
  bool claim(std::uint32_t session);
  void serve_queue();
  void wait(std::uint32_t session);
  void end(std::uint32_t session);
  void give_up();
  void promise(std::uint32_t session);
  void score(Visit& visit);
  // --- GPUs
  std::size_t index_of(std::uint32_t number) const;
  void bring(bool for_waiter);
  void create(Source source, bool for_waiter);
  void start(std::size_t index, Operation operation);
  void wake(std::size_t index);
  void pause(std::size_t index);
  void ready(std::size_t index);
  void fail(std::size_t index, Attempt::Result result);
  void remove(std::size_t index);
  void interrupt(const std::vector<std::uint32_t>& sessions);
  void lose_call(std::size_t index);
  void reconcile();
  void pay(Place& place, Source source, bool pays);
  // --- controller
  void tick();
  void want_as_rival();
  void apply();
  void restart();
  void prepare_next();
  void bring_for_waiters();
  int coming() const;
  int room(Source source) const;
  void record(const Gpu& gpu, Operation operation, Attempt::Result result, Duration took);
  SimulatorResult result() const;

  bool shipped() const { return strategy_.shipped(); }
  int queued() const { return static_cast<int>(queue_.size()); }

  const Trace& trace_;
  const Strategy strategy_;
  const SimulatorOptions& options_;
  Policy policy_{};

  TimePoint now_ = k_beginning;
  std::vector<Happening> events_{};
  std::uint64_t order_ = 0;

  std::vector<Visit> visits_{};
  std::deque<std::uint32_t> queue_{};
  int busy_ = 0;

  Snapshot snapshot_{};  // its gpus are the pool's rows
  std::vector<Place> places_{};
  std::uint32_t numbers_ = 0, attempts_ = 0;

  Plan plan_{};
  DemandEstimator estimator_;
  TargetWindow window_{};
  std::vector<std::pair<Action::Kind, std::uint32_t>> chosen_{};
  TimePoint down_until_{};
  std::deque<DemandBucket> buckets_{};  // the store's, for restarts
  std::deque<Attempt> history_{};
  std::vector<Promise> promises_{};
  double widening_ = 1;
  int direction_ = 0;

  std::int64_t local_paid_ = 0, cloud_paid_ = 0, leaked_ = 0;
  double local_us_ = 0, cloud_us_ = 0, leaked_us_ = 0, busy_us_ = 0;
  std::vector<double> waits_{};
  int reversals_ = 0, kept_promises_ = 0, scored_promises_ = 0;
  SimulatorResult result_{};
};

void World::configure() {
  policy_ = options_.policy;
  if (strategy_.kind == Strategy::Kind::counts) {
    policy_.law = Law::counts;
    policy_.min_free = static_cast<int>(std::lround(strategy_.knob));
    policy_.max_free = static_cast<int>(std::lround(strategy_.second));
  } else if (strategy_.kind == Strategy::Kind::adaptive) {
    policy_.law = Law::adaptive;
    policy_.wait_probability = strategy_.knob;
    policy_.max_free = std::nullopt;
  } else {
    policy_.max_creates_per_tick = 0;
    policy_.tick = rhythm(strategy_.kind).period;
  }
  if (!shipped() || options_.local_gpus == 0) policy_.cloud = CloudSwitch::on;
  snapshot_.demand.history_ready = true;
  snapshot_.sources[k_local] = {.available = options_.local_gpus > 0, .slots = options_.slots};
  snapshot_.sources[k_cloud] = {
      .available = true, .slots = options_.slots, .usd_per_hour = options_.usd_per_hour};
  visits_.resize(trace_.size());
}

void World::advance(TimePoint to) {
  const auto passed = static_cast<double>((to - now_).count());
  local_us_ += passed * static_cast<double>(local_paid_);
  cloud_us_ += passed * static_cast<double>(cloud_paid_);
  leaked_us_ += passed * static_cast<double>(leaked_);
  busy_us_ += passed * busy_;
  now_ = to;
}

void World::pay(Place& place, Source source, bool pays) {
  if (place.paid == pays) return;
  place.paid = pays;
  (source == Source::runpod ? cloud_paid_ : local_paid_) += pays ? 1 : -1;
}

std::size_t World::index_of(std::uint32_t number) const {
  // Numbers grow along the rows.
  const auto found = std::lower_bound(
      places_.begin(), places_.end(), number,
      [](const Place& place, std::uint32_t wanted) { return place.number < wanted; });
  const bool there = found != places_.end() && found->number == number;
  return there ? static_cast<std::size_t>(found - places_.begin()) : places_.size();
}

// --- users

void World::arrive(std::uint32_t session) {
  Visit& visit = visits_[session];
  visit.arrived = now_;
  visit.left = trace_[session].duration;
  if (shipped()) {
    estimator_.arrived(now_);
    if (options_.mishaps.restarts_per_day > 0) {
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
  at(now_ + from_seconds(options_.patience_s), Kind::patience, session, visit.turn);
  if (!shipped()) return;
  bring_for_waiters();
  promise(session);
}

// Local first, among equals the fullest, then the oldest: as the store does.
bool World::claim(std::uint32_t session) {
  std::size_t best = places_.size();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    const bool answers = gpu.state == State::idle || gpu.state == State::running;
    if (!answers || gpu.sessions >= gpu.slots) continue;
    const bool better =
        best == places_.size() || gpu.source < snapshot_.gpus[best].source ||
        (gpu.source == snapshot_.gpus[best].source && gpu.sessions > snapshot_.gpus[best].sessions);
    if (better) best = i;
  }
  if (best == places_.size()) return false;
  Gpu& gpu = snapshot_.gpus[best];
  ++gpu.sessions;
  gpu.reserved_for.text.clear();
  if (gpu.state == State::idle) gpu.since = now_;
  gpu.state = State::running;
  places_[best].sessions.push_back(session);
  Visit& visit = visits_[session];
  visit.served = now_;
  visit.gpu = places_[best].number;
  ++busy_;
  at(now_ + visit.left, Kind::session_end, session, visit.turn);
  if (visit.promise >= 0) score(visit);
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
    if (visit.first) waits_.push_back(in_seconds(now_ - visit.arrived));
  }
}

void World::end(std::uint32_t session) {
  const std::size_t index = index_of(visits_[session].gpu);
  std::erase(places_[index].sessions, session);
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
  ++visit.turn;
  if (visit.first) waits_.push_back(in_seconds(now_ - visit.arrived));
  ++result_.abandoned;
  queue_.pop_front();
}

void World::promise(std::uint32_t session) {
  const auto eta = estimate(queue_.size(), snapshot_.gpus, snapshot_.demand, widening_, now_);
  if (!eta) return;
  visits_[session].promise = static_cast<std::int32_t>(promises_.size());
  promises_.push_back({.made_at = now_, .promised = eta->p90});
}

void World::score(Visit& visit) {
  Promise& promise = promises_[static_cast<std::size_t>(visit.promise)];
  visit.promise = -1;
  promise.actual = now_ - promise.made_at;
  ++scored_promises_;
  if (*promise.actual <= promise.promised) ++kept_promises_;
  const std::size_t kept = std::min(promises_.size(), k_promises_kept);
  widening_ = widening(std::span(promises_).last(kept));
}

// --- GPUs

int World::coming() const {
  int slots = 0;
  for (const Gpu& gpu : snapshot_.gpus) {
    const bool answers = gpu.state == State::idle || gpu.state == State::running;
    if (answers || gpu.state == State::starting) slots += gpu.slots - gpu.sessions;
  }
  return slots;
}

int World::room(Source source) const {
  if (source == Source::runpod) return 1 << 20;
  int used = 0;
  for (const Gpu& gpu : snapshot_.gpus) used += gpu.source == Source::local ? 1 : 0;
  return options_.local_gpus - used;
}

void World::prepare_next() {
  constexpr int k_spare = 1;
  if (coming() < queued() + k_spare) bring(false);
}

void World::bring_for_waiters() {
  const int at_once = 4;
  for (int i = 0; i < at_once && coming() < queued(); ++i) bring(true);
}

// As scheduler/supply.h does: wake, else create, local before cloud.
void World::bring(bool for_waiter) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (snapshot_.gpus[i].state == State::paused) {
      wake(i);
      if (for_waiter) snapshot_.gpus[i].reserved_for.text = "w";
      return;
    }
  }
  if (policy_.max_gpus > 0 && static_cast<int>(places_.size()) >= policy_.max_gpus) return;
  const bool cloud = policy_.cloud == CloudSwitch::on ||
                     (policy_.cloud == CloudSwitch::automatic && snapshot_.memory.cloud_on);
  if (room(Source::local) > 0) {
    create(Source::local, for_waiter);
  } else if (cloud) {
    create(Source::runpod, for_waiter);
  }
}

void World::create(Source source, bool for_waiter) {
  const std::uint32_t number = numbers_++;
  Gpu gpu{.id = GpuId{"g" + std::to_string(number)},
          .source = source,
          .slots = options_.slots,
          .usd_per_hour = source == Source::runpod ? options_.usd_per_hour : 0,
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
  const auto soon = [&](Duration after, Kind kind) {
    at(now_ + after, kind, place.number, place.turn);
  };
  switch (fate.kind) {
    case Fate::Kind::ready:
      return soon(fate.after, Kind::ready);
    case Fate::Kind::no_capacity:
      return soon(k_call, Kind::refused);
    case Fate::Kind::fails:
      return soon(fate.after, Kind::fails);
    case Fate::Kind::hangs:
      return;
    case Fate::Kind::unclear:
      soon(k_call, Kind::call_lost);
      return soon(std::max(fate.after, k_call), Kind::ready);
    case Fate::Kind::unclear_none:
      return soon(k_call, Kind::call_lost);
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
    at(now_ + *crash, Kind::crash, place.number, place.turn);
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
  if (places_[index].paid) {
    ++leaked_;
    ++cloud_paid_;  // goes on being paid
  }
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

void World::record(const Gpu& gpu, Operation operation, Attempt::Result result, Duration took) {
  if (!shipped()) return;
  const Attempt attempt{
      .at = now_, .source = gpu.source, .operation = operation, .result = result, .took = took};
  estimator_.attempted(attempt);
  if (options_.mishaps.restarts_per_day > 0) history_.push_back(attempt);
}

// --- controller

void World::want_as_rival() {
  const Rhythm rhythm = navtalk::rhythm(strategy_.kind);
  const int target = rival_target(strategy_, busy_ + queued());
  window_.add(now_, target);
  window_.forget(now_ - rhythm.hold);
  const Wanted wanted{.least = target, .most = window_.targets().front().target};
  plan(snapshot_, policy_, wanted, now_, plan_);
}

void World::tick() {
  at(now_ + policy_.tick, Kind::tick);
  if (now_ < down_until_) return;
  snapshot_.queued = queued();
  for (const Source source : {Source::local, Source::runpod}) {
    snapshot_.sources[static_cast<std::size_t>(source)].room = room(source);
  }
  if (shipped()) {
    snapshot_.demand = estimator_.demand(now_);
    window_.forget(now_ - policy_.hold_down);
    snapshot_.recent = window_.targets();
    decide(snapshot_, policy_, now_, plan_);
    window_.add(now_, plan_.target());
  } else {
    want_as_rival();
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
      chosen_.emplace_back(action.kind, places_[action.index].number);
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
  at(now_ + from_seconds(24 * 3600 / options_.mishaps.restarts_per_day), Kind::restart);
  down_until_ = now_ + options_.mishaps.restart;
  for (std::size_t i = places_.size(); i-- > 0;) {
    const Gpu& gpu = snapshot_.gpus[i];
    const bool called = gpu.state == State::starting && now_ - gpu.since < k_call &&
                        gpu.source == Source::runpod && gpu.intent.operation == Operation::create;
    if (called && places_[i].known) lose_call(i);
  }
  if (!shipped()) return;
  while (!buckets_.empty() && buckets_.front().start < now_ - 24h) buckets_.pop_front();
  while (!history_.empty() && history_.front().at < now_ - 24h) history_.pop_front();
  const std::vector<DemandBucket> buckets(buckets_.begin(), buckets_.end());
  const std::vector<Attempt> attempts(history_.begin(), history_.end());
  estimator_ = DemandEstimator(now_);
  estimator_.load(buckets, attempts, now_);
}

void World::handle(const Happening& event) {
  switch (event.kind) {
    case Kind::tick:
      return tick();
    case Kind::reconcile:
      at(now_ + k_reconcile, Kind::reconcile);
      if (now_ >= down_until_) reconcile();
      return;
    case Kind::restart:
      return restart();
    case Kind::session_end:
      if (visits_[event.subject].turn == event.turn) end(event.subject);
      return;
    case Kind::patience: {
      const bool waits = !queue_.empty() && queue_.front() == event.subject;
      if (waits && visits_[event.subject].turn == event.turn) give_up();
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
  if (index == places_.size() || places_[index].turn != event.turn) return;
  if (now_ < down_until_ && event.kind != Kind::crash) {  // nobody looks
    at(down_until_, event.kind, event.subject, event.turn);
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
  const auto n = static_cast<double>(trace_.size());
  result.sessions = trace_.size();
  result.p_wait = static_cast<double>(result.waited) / n;
  std::vector<double> waits = waits_;
  std::sort(waits.begin(), waits.end());
  const auto quantile = [&](double q) {  // of all sessions; those served at once waited 0
    const double from_end = n - std::ceil(q * n);
    return from_end < static_cast<double>(waits.size())
               ? waits[waits.size() - 1 - static_cast<std::size_t>(from_end)]
               : 0.0;
  };
  result.p50_wait_s = quantile(0.5);
  result.p99_wait_s = quantile(0.99);
  for (const double wait : waits) result.mean_wait_s += wait / static_cast<double>(waits.size());
  const double hour_us = 3600e6;
  result.gpu_hours = (local_us_ + cloud_us_) / hour_us;
  result.cloud_gpu_hours = cloud_us_ / hour_us;
  result.usd = result.cloud_gpu_hours * options_.usd_per_hour;
  result.leaked_gpu_hours = leaked_us_ / hour_us;
  result.busy_hours = busy_us_ / hour_us;
  result.reversals_per_h = reversals_ / (in_seconds(now_ - k_beginning) / 3600);
  result.promises = scored_promises_;
  if (scored_promises_ > 0) {
    result.eta_coverage = static_cast<double>(kept_promises_) / scored_promises_;
  }
  return result;
}

SimulatorResult World::run(const std::stop_token& stop) {
  at(now_, Kind::tick);
  at(now_ + k_reconcile, Kind::reconcile);
  if (options_.mishaps.restarts_per_day > 0) {
    at(now_ + from_seconds(24 * 3600 / options_.mishaps.restarts_per_day), Kind::restart);
  }
  const TimePoint first = k_beginning + k_warm_up;
  std::size_t next = 0;
  for (std::uint64_t step = 0; next < trace_.size() || !queue_.empty() || busy_ > 0; ++step) {
    if (step % 65536 == 0) throw_if_stopped(stop);
    const bool arrival = next < trace_.size() && first + trace_[next].arrival < events_.front().at;
    if (arrival) {
      advance(first + trace_[next].arrival);
      arrive(static_cast<std::uint32_t>(next++));
      continue;
    }
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    const Happening event = events_.back();
    events_.pop_back();
    advance(event.at);
    handle(event);
  }
  return result();
}

}  // namespace

SimulatorResult simulate(const Trace& trace, const Strategy& strategy,
                         const SimulatorOptions& options, const std::stop_token& stop) {
  NAVTALK_CHECK(!trace.empty() && strategy.kind != Strategy::Kind::oracle);
  return World(trace, strategy, options).run(stop);
}

}  // namespace navtalk
