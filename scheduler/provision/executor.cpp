#include "scheduler/provision/executor.h"

#include <algorithm>
#include <exception>

#include "core/base/check.h"
#include "core/log/log.h"
#include "core/process/identity.h"
#include "scheduler/provision/supply.h"

namespace navtalk {
namespace {

constexpr std::size_t k_waiting = 1024;  // more due intents than this wait for the next step
constexpr Duration k_first_pause = std::chrono::seconds(1);
constexpr Duration k_longest_pause = std::chrono::seconds(30);
// A place this old when its end was wanted has long been in every list.
constexpr Duration k_old = std::chrono::minutes(10);

// Before the next try of what did not work: 1 s, doubled each time, 30 s at most.
Duration pause_after(int tries) {
  Duration pause = k_first_pause;
  for (int i = 1; i < tries && pause < k_longest_pause; ++i) pause *= 2;
  return std::min(pause, k_longest_pause);
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
      work_(k_waiting) {
  for (Provider* provider : providers) providers_[provider->source()] = provider;
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
}

Executor::~Executor() {
  for (std::jthread& thread : threads_) thread.request_stop();
  work_.close();
}

Provider* Executor::provider_of(const Gpu& gpu) const {
  const auto found = providers_.find(gpu.source);
  return found == providers_.end() ? nullptr : found->second;
}

// A device that another gateway of this host offered is not ours to start workers on.
bool Executor::may_use(const Gpu& gpu) const {
  if (gpu.source != Source::local || !options_.devices || gpu.device.empty()) return true;
  const auto& devices = *options_.devices;
  return std::find(devices.begin(), devices.end(), gpu.device) != devices.end();
}

// An intent that is free, whose owner is dead or silent, and that is not resting after a failure. A
// create that may have been called is the reconciler's.
bool Executor::due(const Gpu& gpu, TimePoint now) const {
  const Intent& intent = gpu.intent;
  if (intent.operation == Operation::none || provider_of(gpu) == nullptr) return false;
  if (gpu.source == Source::local && gpu.host != options_.host) return false;
  if (intent.operation == Operation::create && (intent.called || !may_use(gpu))) return false;
  return intent.until <= now || (!intent.owner.empty() && surely_dead(intent.owner));
}

void Executor::step() {
  const PoolView view = store_.view();
  for (const Gpu& gpu : view.gpus) {
    const bool ours = under_way_.with([&](auto& ids) { return ids.contains(gpu.id); });
    if (ours) {
      renew(gpu, view.now);
    } else if (gpu.source == Source::cloud && provider_of(gpu) == nullptr) {
      complain(gpu);
    } else if (due(gpu, view.now) && work_.size() < k_waiting) {
      under_way_.with([&](auto& ids) { ids.insert(gpu.id); });
      work_.push(gpu.id);
    }
  }
}

// Each intent once. It waits until a process with a provider for it comes.
void Executor::complain(const Gpu& gpu) {
  if (gpu.intent.operation == Operation::none) return;
  std::uint64_t& number = unserved_[gpu.id];
  if (std::exchange(number, gpu.intent.number) == gpu.intent.number) return;
  log::error("nobody here can do this at the provider; is its API key missing?",
             {{"gpu", gpu.id.text},
              {"operation", name(gpu.intent.operation)},
              {"provider", name(gpu.source)},
              {"provider_id", gpu.provider_id}});
}

bool Executor::wait_idle(Duration at_most, const std::stop_token& stop) {
  std::unique_lock lock(idle_mutex_);
  return idle_.wait_for(lock, stop, at_most, [this] {
    return under_way_.with([](const auto& ids) { return ids.empty(); });
  });
}

void Executor::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::optional<GpuId> id = work_.pop(stop);
    if (!id) return;
    try {
      carry_out(*id, stop);
    } catch (const std::exception& error) {
      // The row keeps its intent: it is taken again when the lease is over.
      log::error("an operation could not be recorded",
                 {{"gpu", id->text}, {"error", error.what()}});
    }
    under_way_.with([&](auto& ids) { ids.erase(*id); });
    const std::lock_guard lock(idle_mutex_);
    idle_.notify_all();
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
                {options_.owner, "still at it"});
}

void Executor::carry_out(const GpuId& id, const std::stop_token& stop) {
  const std::optional<Gpu> gpu = store_.find(id);
  if (!gpu || !due(*gpu, store_.now())) return;
  Provider& provider = *provider_of(*gpu);
  const std::optional<Gpu> taken = take(*gpu);
  if (!taken) return;  // another executor was quicker
  const TimePoint asked = store_.now();
  switch (taken->intent.operation) {
    case Operation::create:
      return record(*taken, provider.create(*taken, stop), asked);
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
  std::optional<Gpu> row = taken;
  while (row && holds(*row, taken)) {
    change.id = row->id;
    change.version = row->version;
    std::optional<Gpu> changed = store_.change(change, {options_.owner, why});
    if (changed) return changed;
    row = store_.find(taken.id);
  }
  return std::nullopt;
}

void Executor::record(const Gpu& taken, const Outcome& outcome, TimePoint asked) {
  const Operation operation = taken.intent.operation;
  if (const auto* done = std::get_if<Done>(&outcome)) {
    if (operation == Operation::create) {
      NAVTALK_CHECK(done->instance.has_value());
      return record_created(taken, *done->instance, asked);
    }
    GpuChange change{.intent = settled_intent(taken)};
    if (operation == Operation::pause) change.event = Event::paused;
    if (done->instance) {
      if (!done->instance->url.empty()) change.url = done->instance->url;
      // Paused it keeps the price that it will have when it is woken.
      const double usd = done->instance->usd_per_hour;
      if (operation == Operation::wake && usd > 0) change.usd_per_hour = usd;
    }
    amend(taken, change, std::string(name(operation)) + " done");
  } else if (const auto* none = std::get_if<NoCapacity>(&outcome)) {
    fail(taken, Attempt::Result::no_capacity, none->message);
  } else if (const auto* refused = std::get_if<Refused>(&outcome)) {
    if (refused->account) pause_creation(store_, options_.account_pause, refused->message);
    fail(taken, Attempt::Result::refused, refused->message);
  } else if (const auto* failure = std::get_if<Failure>(&outcome)) {
    fail(taken, Attempt::Result::failed, failure->message);
  } else {
    let_go(taken, std::get<UnknownOutcome>(outcome).message);
  }
}

// What the provider made is stored before anything else. If the row was given to others meanwhile,
// what was made finds its way back by its name: the reconciler adopts it.
void Executor::record_created(const Gpu& taken, const Instance& instance, TimePoint asked) {
  GpuChange change{
      .provider_id = instance.provider_id, .intent = settled_intent(taken), .paid_since = asked};
  if (!instance.url.empty()) change.url = instance.url;
  if (!instance.device.empty()) change.device = instance.device;
  change.usd_per_hour = instance.usd_per_hour;
  if (!amend(taken, change, "created as " + instance.provider_id)) {
    log::warn("created, but the row was taken over: left to the reconciler",
              {{"gpu", taken.id.text}, {"provider_id", instance.provider_id}});
  }
}

void Executor::fail(const Gpu& taken, Attempt::Result result, const std::string& message) {
  const Operation operation = taken.intent.operation;
  GpuChange change{.event = Event::fail, .last_error = message, .intent = settled_intent(taken)};
  // What was never made costs nothing.
  const bool refused = result == Attempt::Result::no_capacity || result == Attempt::Result::refused;
  if (operation == Operation::create && refused) change.usd_per_hour = 0;
  amend(taken, change, std::string(name(operation)) + " failed: " + message);
  store_.record(Attempt{.at = store_.now(),
                        .gpu = taken.id,
                        .source = taken.source,
                        .operation = operation,
                        .result = result,
                        .took = store_.now() - taken.since,
                        .detail = message});
  log::warn("a GPU failed",
            {{"gpu", taken.id.text}, {"operation", name(operation)}, {"error", message}});
  const bool supply = operation == Operation::create || operation == Operation::wake;
  if (supply && after_failure_) after_failure_();
}

// The outcome is not known: free for the next try after a pause, or, a create, for the reconciler.
void Executor::let_go(const Gpu& taken, const std::string& message) {
  Intent intent = taken.intent;
  const bool create = intent.operation == Operation::create;
  intent.owner.clear();
  intent.until = store_.now() + (create ? Duration{} : pause_after(intent.tries));
  amend(taken, {.last_error = message, .intent = intent}, "outcome not known: " + message);
}

void Executor::destroy(const Gpu& taken, Provider& provider, const std::stop_token& stop) {
  const bool called = !taken.provider_id.empty();
  if (called) {
    const Outcome outcome = provider.destroy(taken, stop);
    if (const auto* failure = std::get_if<Failure>(&outcome))
      return let_go(taken, failure->message);
    if (const auto* refused = std::get_if<Refused>(&outcome))
      return let_go(taken, refused->message);
    if (const auto* unclear = std::get_if<UnknownOutcome>(&outcome))
      return let_go(taken, unclear->message);
    if (const auto* none = std::get_if<NoCapacity>(&outcome)) return let_go(taken, none->message);
    if (std::get<Done>(outcome).unknown && !may_be_gone(taken)) {
      return let_go(taken, "not known to its provider: it may be too young for that");
    }
  } else if (nothing_was_made(taken)) {
    return remove(taken);
  }
  // Gone is what a whole list does not show any more; without an id it goes by the name.
  const TimePoint looked = store_.now();
  const Listing listing = provider.list(stop);
  if (!listing.complete) return let_go(taken, "cannot see whether it is gone: " + listing.message);
  for (const Instance& instance : listing.instances) {
    const bool same =
        called ? instance.provider_id == taken.provider_id : instance.name == taken.name;
    if (!same || instance.status == Instance::Status::gone) continue;
    if (called) return let_go(taken, "still listed: " + instance.detail);
    // Recorded before it goes: it has cost money.
    const std::optional<Gpu> found = amend(taken,
                                           {.provider_id = instance.provider_id,
                                            .usd_per_hour = instance.usd_per_hour,
                                            .paid_since = paid_from(instance, taken, looked)},
                                           "found by its name as " + instance.provider_id);
    if (found) destroy(*found, provider, stop);
    return;
  }
  remove(taken);
}

// By the row alone, so that it holds for whoever tries next.
bool Executor::may_be_gone(const Gpu& taken) const {
  const TimePoint wanted = taken.intent.since;
  const bool settled = taken.intent.tries > 1 && store_.now() - wanted >= options_.settle;
  return settled || wanted - taken.created_at > k_old;
}

void Executor::remove(const Gpu& taken) {
  std::optional<Gpu> row = store_.find(taken.id);
  while (row && holds(*row, taken) &&
         !store_.remove(row->id, row->version, {options_.owner, "destroyed"})) {
    row = store_.find(taken.id);
  }
}

}  // namespace navtalk
