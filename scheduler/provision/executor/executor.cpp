#include "scheduler/provision/executor/executor.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/check.h"
#include "core/log/log.h"
#include "core/process/identity.h"
#include "scheduler/pool/fail_row.h"
#include "scheduler/pool/update_row.h"
#include "scheduler/provision/over_cap.h"
#include "scheduler/provision/price.h"
#include "scheduler/provision/spending.h"
#include "scheduler/provision/supply.h"

namespace navtalk {
namespace {

constexpr Duration k_first_pause = std::chrono::seconds(1);
constexpr Duration k_longest_pause = std::chrono::seconds(30);
// An instance of this age when its destruction was asked for has long been in every list.
constexpr Duration k_old = std::chrono::minutes(10);

// Before the next try: 1 s, doubled each time, 30 s at most.
Duration pause_after(int tries) {
  Duration pause = k_first_pause;
  for (int i = 1; i < tries && pause < k_longest_pause; ++i) pause *= 2;
  return std::min(pause, k_longest_pause);
}

std::vector<Source> sources_of(const std::vector<Provider*>& providers) {
  std::vector<Source> sources;
  for (const Provider* provider : providers) sources.push_back(provider->source());
  return sources;
}

bool holds(const Gpu& row, const Gpu& taken) {
  return row.intent.number == taken.intent.number && row.intent.owner == taken.intent.owner &&
         row.intent.operation == taken.intent.operation;
}

}  // namespace

Executor::Executor(PoolStore& store, std::vector<Provider*> providers, ExecutorOptions options,
                   std::function<void()> after_failure)
    : store_(store),
      options_(std::move(options)),
      after_failure_(std::move(after_failure)),
      lanes_({.sources = sources_of(providers),
              .threads = options_.threads,
              .slow = options_.slow,
              .deadline = options_.deadline},
             [this](const Gpu& row, const std::stop_token& stop) { work(row, stop); }) {
  for (Provider* provider : providers) providers_[provider->source()] = provider;
}

Provider* Executor::provider_of(const Gpu& gpu) const {
  const auto found = providers_.find(gpu.source);
  return found == providers_.end() ? nullptr : found->second;
}

// No worker is started on a device that only another gateway of this host offers.
bool Executor::may_use(const Gpu& gpu) const {
  if (gpu.source != Source::local || !options_.devices || gpu.device.empty()) return true;
  const auto& devices = *options_.devices;
  return std::find(devices.begin(), devices.end(), gpu.device) != devices.end();
}

// Is the intent free, or its owner dead or without a lease, and is no pause after a failure left? A
// create that may have been called belongs to the reconciler.
bool Executor::due(const Gpu& gpu, TimePoint now) const {
  const Intent& intent = gpu.intent;
  if (intent.operation == Operation::none || provider_of(gpu) == nullptr) return false;
  if (gpu.source == Source::local && gpu.host != options_.host) return false;
  if (intent.operation == Operation::create && (intent.called || !may_use(gpu))) return false;
  return intent.until <= now || (!intent.owner.empty() && is_dead(intent.owner));
}

bool Executor::step(bool begin) {
  lanes_.attend();  // also while the store is away
  const PoolView view = store_.view();
  bool busy = false;
  for (const Gpu& gpu : view.gpus) {
    if (gpu.intent.operation == Operation::none) continue;
    if (lanes_.under_way(gpu.id)) {
      busy = true;
      renew(gpu, view.now);
    } else if (gpu.source == Source::cloud && provider_of(gpu) == nullptr) {
      report_unserved(gpu);
    } else if (begin && due(gpu, view.now)) {
      busy = lanes_.start(gpu) || busy;
    }
  }
  return busy;
}

// Once for each intent. It waits until a process with that provider comes.
void Executor::report_unserved(const Gpu& gpu) {
  std::uint64_t& number = unserved_[gpu.id];
  if (std::exchange(number, gpu.intent.number) == gpu.intent.number) return;
  log::error("no provider for this operation is configured here; is its API key missing?",
             {{"gpu", gpu.id.text},
              {"operation", name(gpu.intent.operation)},
              {"provider", name(gpu.source)},
              {"provider_id", gpu.provider_id}});
}

bool Executor::wait_idle(Duration at_most, const std::stop_token& stop) {
  return lanes_.wait_idle(at_most, stop);
}

AnswersBySource Executor::take_answers() {
  return answers_.with([](AnswersBySource& answers) { return std::exchange(answers, {}); });
}

void Executor::count(const Gpu& taken, const Outcome& outcome) {
  answers_.with([&](AnswersBySource& answers) {
    answers[taken.source].count(taken.intent.operation, outcome);
  });
}

void Executor::work(const Gpu& row, const std::stop_token& stop) {
  try {
    carry_out(row, stop);
  } catch (const std::exception& error) {
    // The row keeps its intent: it is taken again when the lease is over.
    log::error("an operation could not be recorded",
               {{"gpu", row.id.text}, {"error", error.what()}});
  }
}

std::optional<Gpu> Executor::take(const Gpu& gpu) {
  Intent intent = gpu.intent;
  intent.owner = options_.owner;
  intent.until = store_.now() + options_.lease;
  intent.called = true;
  ++intent.tries;
  return store_.change({.id = gpu.id, .version = gpu.version, .intent = intent},
                       {options_.owner, "take the intent"});
}

void Executor::renew(const Gpu& gpu, TimePoint now) {
  if (gpu.intent.owner != options_.owner || gpu.intent.until > now + options_.lease / 2) return;
  Intent intent = gpu.intent;
  intent.until = now + options_.lease;
  store_.change({.id = gpu.id, .version = gpu.version, .intent = intent},
                {options_.owner, "renew the intent"});
}

void Executor::carry_out(const Gpu& found, const std::stop_token& stop) {
  const std::optional<Gpu> gpu = store_.find(found.id);
  // Another intent belongs into another lane: the next step starts it there.
  if (!gpu || gpu->intent.number != found.intent.number || !due(*gpu, store_.now())) return;
  Provider& provider = *provider_of(*gpu);
  const std::optional<Gpu> taken = take(*gpu);
  if (!taken) return;  // another executor was quicker
  const TimePoint asked = store_.now();
  switch (taken->intent.operation) {
    case Operation::create: {
      const Outcome outcome = provider.create(*taken, stop);
      record(*taken, outcome, asked);
      const auto* done = std::get_if<Done>(&outcome);
      if (done && done->instance->price_expected) learn_price(*taken, provider, stop);
      return;
    }
    case Operation::wake:
      return record(*taken, provider.wake(*taken, stop), asked);
    case Operation::pause:
      return record(*taken, provider.pause(*taken, stop), asked);
    case Operation::destroy:
      return destroy(*taken, provider, stop);
    case Operation::none:
      return;
  }
}

// Applies a change to the row as long as the intent is still ours; others may change its flags
// meanwhile. nullopt when the intent was taken over or the row is gone.
std::optional<Gpu> Executor::amend(const Gpu& taken, GpuChange change, const std::string& why) {
  return update_row(store_, taken.id, {options_.owner, why}, [&](const Gpu& row) {
    return holds(row, taken) ? std::optional(change) : std::nullopt;
  });
}

void Executor::record(const Gpu& taken, const Outcome& outcome, TimePoint asked) {
  count(taken, outcome);
  const Operation operation = taken.intent.operation;
  if (const auto* done = std::get_if<Done>(&outcome)) {
    if (operation == Operation::create) {
      NAVTALK_CHECK(done->instance.has_value());
      return record_created(taken, *done->instance, asked);
    }
    record_done(taken, done->instance);
  } else if (const auto* none = std::get_if<NoCapacity>(&outcome)) {
    fail(taken, Attempt::Result::no_capacity, none->message);
  } else if (const auto* refused = std::get_if<Refused>(&outcome)) {
    if (refused->account) pause_creation(store_, options_.account_pause, refused->message);
    fail(taken, Attempt::Result::refused, refused->message);
  } else if (const auto* failure = std::get_if<Failure>(&outcome)) {
    fail(taken, Attempt::Result::failed, failure->message, failure->nothing_made);
  } else {
    release_intent(taken, std::get<UnknownOutcome>(outcome).message);
  }
}

void Executor::record_done(const Gpu& taken, const std::optional<Instance>& instance) {
  const Operation operation = taken.intent.operation;
  GpuChange change{.intent = cleared_intent(taken)};
  if (operation == Operation::pause) change.event = Event::paused;
  if (instance) {
    if (!instance->url.empty()) change.url = instance->url;
    // Paused it keeps the price that it will have when it is woken.
    if (operation == Operation::wake && instance->usd_per_hour > 0) {
      change.usd_per_hour = instance->usd_per_hour;
    }
  }
  amend_within_cap(taken, change, std::string(name(operation)) + " done");
}

// Stores what the provider created before anything else. If the intent was taken over meanwhile, the
// reconciler finds the instance by its name and adopts it.
void Executor::record_created(const Gpu& taken, const Instance& instance, TimePoint asked) {
  GpuChange change{
      .provider_id = instance.provider_id, .intent = cleared_intent(taken), .paid_since = asked};
  if (!instance.url.empty()) change.url = instance.url;
  if (!instance.device.empty()) change.device = instance.device;
  change.usd_per_hour = instance.usd_per_hour;
  if (!amend_within_cap(taken, change, "created as " + instance.provider_id)) {
    log::warn("created, but the row was taken over: left to the reconciler",
              {{"gpu", taken.id.text}, {"provider_id", instance.provider_id}});
  }
}

// The answer lacked it. If nobody tells it yet, the reconciler learns it from a list.
void Executor::learn_price(const Gpu& created, Provider& provider, const std::stop_token& stop) {
  const std::optional<Gpu> row = store_.find(created.id);
  if (options_.max_usd_per_hour <= 0 || !row || row->provider_id.empty()) return;
  const Lookup found = provider.find(*row, stop);
  const auto* instance = std::get_if<Instance>(&found);
  if (instance == nullptr) return;
  std::unique_lock judging(judging_prices_);
  const bool told =
      record_price(store_, row->id, *instance, {options_.owner, "its price is known"});
  const bool over = told && give_up_over_cap(store_, options_.max_usd_per_hour, options_.owner);
  judging.unlock();
  if (over && after_failure_) after_failure_();
}

// Applies a change that may tell the true price. A GPU beyond the cap on spending is to be destroyed
// again, in the same transaction that records it. False as amend().
bool Executor::amend_within_cap(const Gpu& taken, const GpuChange& change, const std::string& why) {
  Cause cause{options_.owner, why};
  std::optional<std::string> broken;
  double expected = 0;
  std::unique_lock judging(judging_prices_);
  const auto after = update_row(store_, taken.id, cause, [&](const Gpu& row) {
    if (!holds(row, taken)) return std::optional<GpuChange>();
    GpuChange now = change;
    expected = row.usd_per_hour;
    broken.reset();
    if (hold_to_cap(store_, row, options_.max_usd_per_hour, now)) broken = now.last_error;
    cause.why = broken ? why + ": " + *broken : why;
    return std::optional(std::move(now));
  });
  judging.unlock();
  if (!after) return false;
  const bool create = taken.intent.operation == Operation::create;
  if (create && options_.max_usd_per_hour > 0 && after->usd_per_hour > expected) {
    remember_price(store_, after->device, after->usd_per_hour);
  }
  if (broken) {
    record_attempt(taken, Attempt::Result::refused, *broken);
    log::warn("a GPU breaks the cap on spending, and is destroyed again",
              {{"gpu", taken.id.text}, {"type", after->device}, {"why", *broken}});
    if (after_failure_) after_failure_();
  }
  return true;
}

void Executor::fail(const Gpu& taken, Attempt::Result result, const std::string& message,
                    bool nothing_made) {
  const Operation operation = taken.intent.operation;
  const bool refused = result == Attempt::Result::no_capacity || result == Attempt::Result::refused;
  fail_row(store_, taken.id,
           {.cause = {options_.owner, std::string(name(operation)) + " failed: " + message},
            .last_error = message,
            .clear_intent = true,
            .costs_nothing = operation == Operation::create && (refused || nothing_made)},
           [&](const Gpu& row) { return holds(row, taken); });
  record_attempt(taken, result, message);
  const bool supply = operation == Operation::create || operation == Operation::wake;
  if (supply && after_failure_) after_failure_();
}

void Executor::record_attempt(const Gpu& taken, Attempt::Result result,
                              const std::string& message) {
  store_.record(Attempt{.at = store_.now(),
                        .gpu = taken.id,
                        .source = taken.source,
                        .operation = taken.intent.operation,
                        .result = result,
                        .took = store_.now() - taken.since,
                        .detail = message});
}

// The outcome is not known: frees the intent for the next try after a pause, or, a create, for the
// reconciler.
void Executor::release_intent(const Gpu& taken, const std::string& message) {
  Intent intent = taken.intent;
  const bool create = intent.operation == Operation::create;
  intent.owner.clear();
  intent.until = store_.now() + (create ? Duration{} : pause_after(intent.tries));
  amend(taken, {.last_error = message, .intent = intent}, "outcome not known: " + message);
}

void Executor::destroy(const Gpu& taken, Provider& provider, const std::stop_token& stop) {
  if (!taken.provider_id.empty()) {
    const Outcome outcome = provider.destroy(taken, stop);
    count(taken, outcome);
    if (const auto* failure = std::get_if<Failure>(&outcome))
      return release_intent(taken, failure->message);
    if (const auto* refused = std::get_if<Refused>(&outcome))
      return release_intent(taken, refused->message);
    if (const auto* unknown = std::get_if<UnknownOutcome>(&outcome))
      return release_intent(taken, unknown->message);
    if (const auto* none = std::get_if<NoCapacity>(&outcome))
      return release_intent(taken, none->message);
    if (std::get<Done>(outcome).unknown && !may_be_gone(taken)) {
      return release_intent(taken, "its provider does not know it yet: it may be too young");
    }
    return remove_if_gone(taken, provider.find(taken, stop));
  }
  if (nothing_was_made(taken)) return remove(taken);
  // Without an id its name decides. An instance that this list lacks is an orphan of a later one.
  const TimePoint listed_at = store_.now();
  const Listing listing = provider.list(stop);
  for (const Instance& instance : listing.instances) {
    if (instance.name != taken.name || instance.status == Instance::Status::gone) continue;
    // Recorded before it is destroyed: it has cost money.
    const std::optional<Gpu> found = amend(taken,
                                           {.provider_id = instance.provider_id,
                                            .usd_per_hour = known_price(instance),
                                            .paid_since = paid_from(instance, taken, listed_at)},
                                           "found by its name as " + instance.provider_id);
    if (found) destroy(*found, provider, stop);
    return;
  }
  if (!listing.complete)
    return release_intent(taken, "cannot see whether it is gone: " + listing.message);
  remove(taken);
}

// A list may lack what exists: only the provider's answer about its id ends the row.
void Executor::remove_if_gone(const Gpu& taken, const Lookup& lookup) {
  if (const auto* none = std::get_if<NoAnswer>(&lookup))
    return release_intent(taken, "cannot see whether it is gone: " + none->message);
  if (const auto* instance = std::get_if<Instance>(&lookup))
    return release_intent(taken, "still there: " + instance->detail);
  remove(taken);
}

// Decided by the store alone, so that the next executor decides the same.
bool Executor::may_be_gone(const Gpu& taken) const {
  if (taken.intent.since - taken.created_at > k_old) return true;
  // Its create may have been called long after the row was made.
  const TimePoint made = open_span_since(store_, taken).value_or(taken.created_at);
  return taken.intent.tries > 1 && store_.now() - made >= options_.consistency_window;
}

void Executor::remove(const Gpu& taken) {
  remove_row(store_, taken.id, {options_.owner, "destroyed"},
             [&](const Gpu& row) { return holds(row, taken); });
}

}  // namespace navtalk
