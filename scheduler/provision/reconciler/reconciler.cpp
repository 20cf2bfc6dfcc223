#include "scheduler/provision/reconciler/reconciler.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/log/log.h"
#include "core/process/identity.h"
#include "scheduler/pool/drain_notices.h"
#include "scheduler/pool/fail_row.h"
#include "scheduler/provision/over_cap.h"
#include "scheduler/provision/price.h"
#include "scheduler/provision/spending.h"

namespace navtalk {
namespace {

constexpr Duration k_usual = std::chrono::seconds(60);
constexpr Duration k_soon = std::chrono::seconds(10);
constexpr int k_orphan_observations = 2;
// An orphan is not taken for older: clocks may be wrong, and no reconciler is absent for longer.
constexpr Duration k_oldest = std::chrono::hours(24);

bool ended(const Instance& instance) { return instance.status == Instance::Status::gone; }

bool in_use(const Gpu& gpu) { return gpu.serving() || gpu.state == State::starting; }

bool changes(const Gpu& gpu) {
  return gpu.state == State::starting || gpu.state == State::stopping ||
         gpu.intent.operation != Operation::none;
}

}  // namespace

Reconciler::Reconciler(PoolStore& store, Provider& provider, ReconcilerOptions options)
    : store_(store),
      provider_(provider),
      options_(std::move(options)),
      setting_name_(observations_setting(provider.source(), options_.host)) {}

Setting<Observations> Reconciler::setting() const {
  return {setting_name_, as_text, parse_observations};
}

Duration Reconciler::next_pass() const {
  return check_soon_ ? std::min(k_soon, options_.consistency_window) : k_usual;
}

// A create that may have been called, and that no executor holds any more.
bool Reconciler::unsettled(const Gpu& gpu) const {
  const Intent& intent = gpu.intent;
  return intent.operation == Operation::create && intent.called &&
         (intent.until <= now_ || is_dead(intent.owner));
}

bool Reconciler::pass(const std::stop_token& stop) {
  // The rows are read first. What is created later has no row here, but is not taken for an orphan:
  // its row was written before the provider was called, and orphans must be observed twice.
  const PoolView view = store_.view();
  listed_at_ = view.now;
  const Listing listing = provider_.list(stop);
  now_ = store_.now();
  check_soon_ = !listing.complete;
  failed_list_.clear();
  without_ = listing.without;
  if (!listing.complete) {
    failed_list_ = listing.message.empty() ? "the list is not complete" : listing.message;
    log::warn(without_.empty()
                  ? "the provider's list is not complete: nothing is changed by it"
                  : "a cloud's list is not complete: nothing is changed of its GPUs by it",
              {{"provider", name(provider_.source())}, {"error", failed_list_}});
    if (without_.empty()) return false;
  }
  stored_ = setting().look_up(store_);
  before_ = stored_.value.value_or(Observations{});
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
  std::vector<const Gpu*> missing;
  for (const auto& [unused, gpu] : by_name) {
    if (!listed.contains(gpu->id)) missing.push_back(gpu);
  }
  const bool whole = match_missing(missing, stop);
  const bool over = provider_.source() == Source::cloud &&
                    give_up_over_cap(store_, options_.max_usd_per_hour, options_.who);
  check_soon_ = check_soon_ || over;
  remember();
  return whole;
}

// Only what was observed again is kept. If another process made a pass meanwhile, its record stays.
void Reconciler::remember() {
  const bool nothing = !stored_.text && seen_ == Observations{};
  if (nothing || seen_ == before_) return;
  setting().replace(store_, stored_, seen_);
}

void Reconciler::adopt(const Gpu& gpu, const Instance& instance) {
  GpuChange change{.id = gpu.id,
                   .version = gpu.version,
                   .provider_id = instance.provider_id,
                   .paid_since = paid_from(instance, gpu, listed_at_)};
  change.usd_per_hour = price(instance, gpu.usd_per_hour);
  if (!instance.url.empty()) change.url = instance.url;
  if (!instance.device.empty()) change.device = instance.device;
  std::string why = "found at the provider as " + instance.provider_id;
  if (gpu.intent.operation == Operation::create) {
    change.intent = cleared_intent(gpu);
    if (hold_to_cap(store_, gpu, options_.max_usd_per_hour, change)) {
      why += ": " + *change.last_error;
      if (store_.change(change, {options_.who, why}) && change.device)
        remember_price(store_, *change.device, instance.usd_per_hour);
      return;
    }
  }
  if (!store_.change(change, {options_.who, why})) return;
  const bool dearer = gpu.usd_per_hour > 0 && instance.usd_per_hour > gpu.usd_per_hour;
  if (options_.max_usd_per_hour > 0 && change.device && dearer)
    remember_price(store_, *change.device, instance.usd_per_hour);
}

void Reconciler::match(const Gpu& gpu, const Instance& instance) {
  using Status = Instance::Status;
  if (before_.replaced.contains(gpu.id)) seen_.replaced.insert(gpu.id);
  const bool under_way = gpu.intent.operation != Operation::none && gpu.intent.until > now_ &&
                         !is_dead(gpu.intent.owner);
  if (under_way) {
    check_soon_ = true;
    return;
  }
  // It does not listen yet: the next list will know its address.
  if (instance.status == Status::starting && instance.url.empty()) check_soon_ = true;
  // Until it is told, what it costs is only expected.
  const bool capped = provider_.source() == Source::cloud && options_.max_usd_per_hour > 0;
  if (capped && gpu.state == State::starting && !known_price(instance)) check_soon_ = true;
  if (gpu.provider_id.empty()) return adopt(gpu, instance);
  if (gpu.intent.operation != Operation::none) return;  // an executor does it
  if (gpu.state == State::paused && instance.status == Status::running) {
    store_.change({.id = gpu.id,
                   .version = gpu.version,
                   .event = Event::wake,
                   .usd_per_hour = price(instance, gpu.usd_per_hour)},
                  {options_.who, "it runs although it was paused"});
  } else if (in_use(gpu) && instance.status == Status::stopped) {
    fail(gpu, "stopped by itself: " + instance.detail);
  } else if (in_use(gpu) && instance.status == Status::failed) {
    fail(gpu, "the provider says: " + instance.detail);
  } else if (gpu.state != State::paused && gpu.usd_per_hour != instance.usd_per_hour &&
             known_price(instance)) {
    record_price(store_, gpu.id, instance, {options_.who, "its price changed"});
  } else if (gpu.url.empty() && !instance.url.empty()) {
    GpuChange change{.id = gpu.id, .version = gpu.version, .url = instance.url};
    if (!instance.device.empty()) change.device = instance.device;
    store_.change(change, {options_.who, "its address is " + instance.url});
  } else if (!instance.outdated.empty()) {
    replace(gpu, instance.outdated);
  } else if (before_.replaced.contains(gpu.id)) {
    keep(gpu);
  }
}

// GPUs without sessions are replaced at once, one after the other. Of those with sessions one at a
// time drains; that it drains for this reason is recorded before.
void Reconciler::replace(const Gpu& gpu, const std::string& why) {
  const bool chosen = before_.replaced.contains(gpu.id);
  if (!gpu.dedicated_to.empty() || !gpu.reserved_for.empty()) return;
  if (gpu.draining && !chosen) return;  // an operator drains it: left alone
  check_soon_ = true;
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

// It was to be replaced, and is as it would be started now again. Somebody else's drain, which has a notice, stays.
void Reconciler::keep(const Gpu& gpu) {
  seen_.replaced.erase(gpu.id);
  if (!gpu.draining || has_drain_notice(store_, gpu.id)) return;
  store_.change({.id = gpu.id, .version = gpu.version, .draining = false},
                {options_.who, "as it would be started now: takes sessions again"});
}

// A GPU that exists is never without a price: the cap on spending would not see it.
double Reconciler::price(const Instance& instance, double otherwise) const {
  return known_price(instance).value_or(otherwise > 0 ? otherwise
                                                      : provider_.expected_usd_per_hour());
}

void Reconciler::fail(const Gpu& gpu, const std::string& why, bool gone) {
  fail_row(store_, gpu,
           {.cause = {options_.who, why}, .clear_intent = true, .costs_nothing = gone});
}

// An unknown pod costs money, so each one is named. Foreign workers on a host of ours are usual: they
// are reported once for each store.
void Reconciler::report_foreign(const Instance& instance) {
  const bool local = provider_.source() == Source::local;
  const std::string known =
      local ? instance.name.substr(0, instance.name.rfind('-')) : instance.name;
  if (!seen_.foreign.insert(known).second || before_.foreign.contains(known)) return;
  if (local) {
    log::info(
        "another store under the same pool name has workers on this host; they are left alone",
        {{"store", known}});
  } else {
    log::warn("a GPU of another store under the same pool name; it is left alone",
              {{"name", instance.name}, {"provider_id", instance.provider_id}});
  }
}

// `duplicate_of`: the row of that name, which has another instance: a create was answered twice.
void Reconciler::orphan(const Instance& instance, const Gpu* duplicate_of,
                        const std::stop_token& stop) {
  if (stop.stop_requested()) return;
  const PoolIdentity& identity = options_.identity;
  if (!identity.owns(instance.name)) {
    if (!instance.name.starts_with(identity.pool_prefix())) return;
    report_foreign(instance);
    return;
  }
  check_soon_ = true;
  const auto before = before_.orphans.find(instance.provider_id);
  Observations::Orphan seen =
      before == before_.orphans.end() ? Observations::Orphan{now_, 0} : before->second;
  if (++seen.times < k_orphan_observations || now_ - seen.first < options_.orphan_grace) {
    seen_.orphans[instance.provider_id] = seen;
    return;
  }
  // With a row it is recorded, paid for in the ledger, and used or destroyed like any other.
  Gpu gpu = new_gpu(identity, provider_.source());
  // Its worker's token is that of its name (scheduler/health/worker_tokens.h).
  gpu.name = duplicate_of == nullptr ? instance.name : duplicate_name(instance.name);
  gpu.provider_id = instance.provider_id;
  gpu.url = instance.url;
  gpu.device = instance.device;
  gpu.usd_per_hour = price(instance, 0);
  gpu.host = options_.host;
  const TimePoint made = duplicate_of != nullptr
                             ? paid_from(instance, *duplicate_of, listed_at_)
                             : listed_at_ - std::min(instance.age.value_or(Duration{}), k_oldest);
  std::string why =
      duplicate_of != nullptr ? "a duplicate at the provider" : "an orphan at the provider";
  GpuChange priced{.usd_per_hour = instance.usd_per_hour};
  if (hold_to_cap(store_, gpu, options_.max_usd_per_hour, priced)) {
    gpu.state = State::stopping;
    gpu.intent = *priced.intent;
    gpu.last_error = *priced.last_error;
    why += ": " + gpu.last_error;
  }
  store_.add({.gpu = gpu, .paid_since = std::min(made, seen.first)}, {options_.who, why});
  log::warn("an orphan was adopted", {{"gpu", gpu.id.text}, {"provider_id", instance.provider_id}});
}

}  // namespace navtalk
