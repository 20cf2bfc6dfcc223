#include "scheduler/provision/reconciler.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/log/log.h"
#include "core/process/identity.h"

namespace navtalk {
namespace {

constexpr Duration k_calm = std::chrono::seconds(60);
constexpr Duration k_restless = std::chrono::seconds(10);
constexpr int k_twice = 2;
// An orphan is not believed to be older: clocks may be wrong, and no reconciler was away for
// longer.
constexpr Duration k_oldest = std::chrono::hours(24);

bool ended(const Instance& instance) { return instance.status == Instance::Status::gone; }

bool in_use(State state) {
  return state == State::idle || state == State::running || state == State::starting;
}

bool changes(const Gpu& gpu) {
  return gpu.state == State::starting || gpu.state == State::stopping ||
         gpu.intent.operation != Operation::none;
}

}  // namespace

Reconciler::Reconciler(PoolStore& store, Provider& provider, ReconcilerOptions options)
    : store_(store), provider_(provider), options_(std::move(options)) {
  setting_ = "reconciler." + std::string(name(provider.source()));
  if (!options_.host.empty()) setting_ += "." + options_.host;
}

Duration Reconciler::next_pass() const {
  return restless_ ? std::min(k_restless, options_.settle) : k_calm;
}

// A create that may have been called, and that nobody is at any more.
bool Reconciler::unsettled(const Gpu& gpu) const {
  const Intent& intent = gpu.intent;
  return intent.operation == Operation::create && intent.called &&
         (intent.until <= now_ || surely_dead(intent.owner));
}

bool Reconciler::pass(const std::stop_token& stop) {
  // The rows first: what is created after this look can only be missing from them, not orphaned,
  // since its row was written before the provider was called and orphans are seen twice.
  const PoolView view = store_.view();
  looked_ = view.now;
  const Listing listing = provider_.list(stop);
  now_ = store_.now();
  restless_ = !listing.complete;
  if (!listing.complete) {
    log::warn("the provider's list is not complete: nothing is changed by it",
              {{"provider", name(provider_.source())}, {"error", listing.message}});
    return false;
  }
  stored_ = store_.setting(setting_);
  before_ = parse_sightings(stored_);
  seen_ = {};
  changing_ = false;
  std::map<std::string, const Gpu*> by_id, by_name;
  for (const Gpu& gpu : view.gpus) {
    if (gpu.source != provider_.source()) continue;
    if (!options_.host.empty() && gpu.host != options_.host) continue;
    by_name[gpu.name] = &gpu;
    changing_ = changing_ || changes(gpu);
    if (!gpu.provider_id.empty()) by_id[gpu.provider_id] = &gpu;
  }
  std::set<GpuId> listed;
  for (const Instance& instance : listing.instances) {
    if (ended(instance)) continue;
    const auto known = by_id.find(instance.provider_id);
    const auto named = by_name.find(instance.name);
    const Gpu* row = known != by_id.end() ? known->second : nullptr;
    if (row == nullptr && named != by_name.end() && named->second->provider_id.empty() &&
        !listed.contains(named->second->id)) {
      row = named->second;
    }
    if (row != nullptr) {
      listed.insert(row->id);
      match(*row, instance);
    } else {
      orphan(instance, named != by_name.end() ? named->second : nullptr, stop);
    }
  }
  for (const auto& [unused, gpu] : by_name) {
    if (!listed.contains(gpu->id)) missing(*gpu);
  }
  remember();
  return true;
}

// Only what was seen again is kept. If another process has looked meanwhile, its word stands.
void Reconciler::remember() {
  const bool nothing = !stored_ && seen_ == Sightings{};
  if (nothing || seen_ == before_) return;
  store_.swap_setting(setting_, stored_, as_text(seen_));
}

void Reconciler::adopt(const Gpu& gpu, const Instance& instance) {
  GpuChange change{.id = gpu.id,
                   .version = gpu.version,
                   .provider_id = instance.provider_id,
                   .usd_per_hour = instance.usd_per_hour,
                   .paid_since = paid_from(instance, gpu, looked_)};
  if (!instance.url.empty()) change.url = instance.url;
  if (!instance.device.empty()) change.device = instance.device;
  if (gpu.intent.operation == Operation::create) change.intent = settled_intent(gpu);
  store_.change(change, {options_.who, "found at the provider as " + instance.provider_id});
}

void Reconciler::match(const Gpu& gpu, const Instance& instance) {
  using Status = Instance::Status;
  if (before_.replaced.contains(gpu.id)) seen_.replaced.insert(gpu.id);
  const bool busy_elsewhere = gpu.intent.operation != Operation::none && gpu.intent.until > now_ &&
                              !surely_dead(gpu.intent.owner);
  if (busy_elsewhere) {
    restless_ = true;
    return;
  }
  if (gpu.provider_id.empty()) return adopt(gpu, instance);
  if (gpu.intent.operation != Operation::none) return;  // an executor will see to it
  if (gpu.state == State::paused && instance.status == Status::running) {
    store_.change({.id = gpu.id,
                   .version = gpu.version,
                   .event = Event::wake,
                   .usd_per_hour = instance.usd_per_hour},
                  {options_.who, "it runs although it was paused"});
  } else if (in_use(gpu.state) && instance.status == Status::stopped) {
    fail(gpu, "stopped by itself: " + instance.detail);
  } else if (in_use(gpu.state) && instance.status == Status::failed) {
    fail(gpu, "the provider says: " + instance.detail);
  } else if (gpu.state != State::paused && gpu.usd_per_hour != instance.usd_per_hour &&
             instance.usd_per_hour > 0) {
    store_.change({.id = gpu.id, .version = gpu.version, .usd_per_hour = instance.usd_per_hour},
                  {options_.who, "its price changed"});
  } else if (!instance.outdated.empty()) {
    replace(gpu, instance.outdated);
  } else if (before_.replaced.contains(gpu.id)) {
    keep(gpu);
  }
}

// Users come first: what nobody uses goes at once, one after the other; of the others one at a time
// drains, and that it drains for this reason is remembered before.
void Reconciler::replace(const Gpu& gpu, const std::string& why) {
  const bool chosen = before_.replaced.contains(gpu.id);
  if (!gpu.dedicated_to.empty() || !gpu.reserved_for.empty()) return;
  if (gpu.draining && !chosen) return;  // an operator's: it stays as it is
  restless_ = true;
  if (changing_) return;
  GpuChange change{.id = gpu.id, .version = gpu.version};
  if (gpu.state == State::idle || gpu.state == State::paused) {
    change.event = Event::destroy;
    change.intent = next_intent(gpu, Operation::destroy, now_);
    changing_ = true;
  } else if (gpu.state == State::running && chosen && !gpu.draining) {
    change.draining = true;
  } else {
    if (gpu.state == State::running && seen_.replaced.empty() && before_.replaced.empty())
      seen_.replaced.insert(gpu.id);
    return;
  }
  if (!store_.change(change, {options_.who, "to be replaced: " + why})) return;
  log::info("a GPU is to be replaced", {{"gpu", gpu.id.text}, {"reason", why}});
}

// It was to be replaced, and is as it should be again.
void Reconciler::keep(const Gpu& gpu) {
  seen_.replaced.erase(gpu.id);
  if (!gpu.draining) return;
  store_.change({.id = gpu.id, .version = gpu.version, .draining = false},
                {options_.who, "as it would be started now: takes sessions again"});
}

void Reconciler::missing(const Gpu& gpu) {
  if (unsettled(gpu)) {
    restless_ = true;
    // A dead owner's lease may be set into the future: the settling time starts now.
    if (gpu.intent.until > now_) {
      Intent intent = gpu.intent;
      intent.owner.clear();
      intent.until = now_;
      store_.change({.id = gpu.id, .version = gpu.version, .intent = intent},
                    {options_.who, "its creator is gone: looking for what it made"});
    } else if (now_ >= gpu.intent.until + options_.settle) {
      store_.change(
          {.id = gpu.id,
           .version = gpu.version,
           .event = next(gpu.state, Event::fail) ? std::optional(Event::fail) : std::nullopt,
           .last_error = "the create call had no effect",
           .intent = settled_intent(gpu)},
          {options_.who, "never appeared at the provider"});
    }
    return;
  }
  if (gpu.provider_id.empty() || gpu.state == State::failed) return;
  if (now_ - gpu.created_at < options_.settle) {
    restless_ = true;  // lists may be behind
    return;
  }
  const auto before = before_.absences.find(gpu.id);
  const int absent = before == before_.absences.end() ? 1 : before->second + 1;
  if (absent < k_twice) {
    seen_.absences[gpu.id] = absent;
    restless_ = true;
    return;
  }
  if (gpu.intent.operation == Operation::destroy) {
    store_.remove(gpu.id, gpu.version, {options_.who, "gone from the provider's list"});
  } else {
    fail(gpu, "gone from the provider's list", true);
  }
}

void Reconciler::fail(const Gpu& gpu, const std::string& why, bool gone) {
  log::warn("a GPU failed", {{"gpu", gpu.id.text}, {"error", why}});
  store_.change({.id = gpu.id,
                 .version = gpu.version,
                 .event = Event::fail,
                 .last_error = why,
                 .usd_per_hour = gone ? std::optional(0.0) : std::nullopt,
                 .intent = settled_intent(gpu)},
                {options_.who, why});
}

// A pod that nobody knows costs money, so each is named. That others run workers on a host of ours
// is nothing unusual: it is said once of each store.
void Reconciler::stranger(const Instance& instance) {
  const bool local = provider_.source() == Source::local;
  const std::string known =
      local ? instance.name.substr(0, instance.name.rfind('-')) : instance.name;
  if (!seen_.strangers.insert(known).second || before_.strangers.contains(known)) return;
  if (local) {
    log::info(
        "another store under the same pool name has workers on this host; they are left alone",
        {{"store", known}});
  } else {
    log::warn("a GPU of another store under the same pool name; it is left alone",
              {{"name", instance.name}, {"provider_id", instance.provider_id}});
  }
}

// `twin`: a row of its name that is there under another id; a create was answered twice.
void Reconciler::orphan(const Instance& instance, const Gpu* twin, const std::stop_token& stop) {
  if (stop.stop_requested()) return;
  const PoolIdentity& identity = options_.identity;
  if (!identity.owns(instance.name)) {
    if (!instance.name.starts_with(identity.pool_prefix())) return;
    stranger(instance);
    return;
  }
  restless_ = true;
  const auto before = before_.orphans.find(instance.provider_id);
  Sightings::Sighting sighting =
      before == before_.orphans.end() ? Sightings::Sighting{now_, 0} : before->second;
  if (++sighting.times < k_twice || now_ - sighting.first < options_.orphan_grace) {
    seen_.orphans[instance.provider_id] = sighting;
    return;
  }
  // With a row it is recorded, paid for in the ledger, and used or destroyed like any other.
  Gpu gpu = new_gpu(identity, provider_.source());
  if (twin == nullptr) gpu.name = instance.name;
  gpu.provider_id = instance.provider_id;
  gpu.url = instance.url;
  gpu.device = instance.device;
  gpu.usd_per_hour = instance.usd_per_hour;
  gpu.host = options_.host;
  const TimePoint made = twin != nullptr
                             ? paid_from(instance, *twin, looked_)
                             : looked_ - std::min(instance.age.value_or(Duration{}), k_oldest);
  store_.add({.gpu = gpu, .paid_since = std::min(made, sighting.first)},
             {options_.who, twin != nullptr ? "a twin at the provider" : "an orphan there"});
  log::warn("an orphan was adopted", {{"gpu", gpu.id.text}, {"provider_id", instance.provider_id}});
}

}  // namespace navtalk
