#include "scheduler/provision/supply.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "scheduler/pool/faults/outage.h"
#include "scheduler/pool/notices.h"
#include "scheduler/pool/settings.h"
#include "scheduler/provision/backoff.h"
#include "scheduler/provision/blocked_by.h"

namespace navtalk {
namespace {

using nlohmann::json;

// Enough for a burst in one call; the next call goes on.
constexpr int k_at_once = 4;

bool enough(const PoolView& view, const ForUsers& need) {
  ComingSlots slots;
  for (const Gpu& gpu : view.gpus) slots.add(gpu);
  return slots.enough(view.waiters.size(), need.spare);
}

std::string as_text(const bool& on) { return on ? "on" : "off"; }

std::optional<bool> parse_switch(std::string_view text) { return text == "on"; }

constexpr Setting<bool> k_cloud_on{setting_name::k_cloud_switch, as_text, parse_switch};

std::string as_text(const CreationPause& pause) {
  const json record = {{"until_us", pause.until.time_since_epoch().count()}, {"why", pause.why}};
  return record.dump(-1, ' ', true, json::error_handler_t::replace);
}

std::optional<CreationPause> parse_creation_pause(std::string_view text) {
  const json record = json::parse(text, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  return CreationPause{TimePoint(Duration(record.value("until_us", std::int64_t{0}))),
                       record.value("why", "")};
}

constexpr Setting<CreationPause> k_creation_pause{setting_name::k_creation_pause, as_text,
                                                  parse_creation_pause};

bool starts_in_cloud(const PoolView& view) {
  return std::any_of(view.gpus.begin(), view.gpus.end(),
                     [](const Gpu& gpu) { return starts_at(gpu, Source::cloud); });
}

// What prevented a new row, as far as one can say afterwards.
std::string refusal(PoolStore& store, const std::optional<ForUsers>& need) {
  return need && enough(store.view(), *need) ? "enough slots are free or starting"
                                             : "the cap on GPUs or on their price is reached";
}

}  // namespace

std::vector<Gpu> wakeable(const PoolView& view) {
  std::vector<Gpu> paused;
  for (const Gpu& gpu : view.gpus) {
    if (gpu.state == State::paused && shared(gpu) && gpu.intent.operation == Operation::none) {
      paused.push_back(gpu);
    }
  }
  std::stable_sort(paused.begin(), paused.end(), [](const Gpu& a, const Gpu& b) {
    return std::pair(a.source, a.usd_per_hour) < std::pair(b.source, b.usd_per_hour);
  });
  return paused;
}

int coming_slots(const PoolView& view) {
  int slots = 0;
  for (const Gpu& gpu : view.gpus) slots += coming_slots(gpu);
  return slots;
}

int spare_slots(const ScalingLimits& limits) {
  const int spare = std::max(1, limits.min_free);
  return limits.max_free ? std::min(spare, std::max(*limits.max_free, limits.min_free)) : spare;
}

Supply::Supply(PoolStore& store, SupplyOptions options)
    : store_(store), options_(std::move(options)) {}

int Supply::max_gpus() const {
  return options_.timetable ? options_.timetable->limits().max_gpus : options_.max_gpus;
}

int Supply::spare() const {
  return options_.timetable ? spare_slots(options_.timetable->limits()) : options_.spare_slots;
}

bool Supply::in_maintenance(Origin origin, const std::string& host) const {
  return options_.timetable && options_.timetable->in_maintenance(origin, host);
}

void Supply::ensure_for_waiters() {
  for (int i = 0; i < k_at_once; ++i) {
    if (store_.waiters().empty()) return;  // as enough() says, without a look at every GPU
    const PoolView view = store_.view();
    if (enough(view, {})) return;
    if (provision(view, "a user is waiting", ForUsers{}).operation == Operation::none) return;
  }
}

void Supply::prepare_next() {
  const PoolView view = store_.view();
  const ForUsers need{.spare = spare()};
  if (!enough(view, need)) provision(view, "prepare the next", need);
}

void Supply::ensure_for_refused() {
  const PoolView view = store_.view();
  const ForUsers need{.spare = std::max(1, spare())};
  if (!enough(view, need)) provision(view, "a user was refused", need);
}

void Supply::ensure_for_jobs() {
  const PoolView view = store_.view();
  const ForUsers need{.spare = 1};
  if (!enough(view, need)) provision(view, "jobs wait", need);
}

std::optional<Gpu> Supply::wake_one(const PoolView& view, const std::string& why,
                                    const std::optional<ForUsers>& need, const Demand& learned,
                                    bool cloud) {
  for (const Gpu& gpu : wakeable(view)) {
    if ((gpu.source == Source::cloud) != cloud) continue;
    if (!may_retry(learned, gpu.source, Operation::wake, view.gpus, view.now)) continue;
    if (wake(gpu, why, need)) return gpu;
  }
  return std::nullopt;
}

Provisioning Supply::provision(const PoolView& view, const std::string& why,
                               const std::optional<ForUsers>& need) {
  const Demand learned = options_.demand ? options_.demand() : Demand{};
  const bool outage = cloud_outage(read_outages(store_));
  const bool tries_one = outage && starts_in_cloud(view);
  const auto woken = [&](bool cloud) -> std::optional<Provisioning> {
    if (cloud && (options_.cloud == CloudSwitch::off || tries_one)) return std::nullopt;
    const auto gpu = wake_one(view, why, need, learned, cloud);
    if (!gpu) return std::nullopt;
    return Provisioning{Operation::wake, gpu->id, gpu->source, why};
  };
  if (auto begun = woken(false)) return *begun;
  if (auto begun = outage ? std::nullopt : woken(true)) return *begun;
  Provisioning provisioned = {.why = "local workers failed; backing off"};
  if (may_retry(learned, Source::local, Operation::create, view.gpus, view.now)) {
    provisioned = create(view, Source::local, why, need);
  }
  if (provisioned.operation != Operation::none) return provisioned;
  if (auto begun = outage ? woken(true) : std::nullopt) return *begun;
  if (options_.cloud == CloudSwitch::off) return provisioned;
  if (options_.cloud == CloudSwitch::automatic && !cloud_switched_on(store_)) {
    return {.why = provisioned.why + "; the cloud is switched off"};
  }
  if (tries_one) return {.why = provisioned.why + "; " + std::string(name(BlockedBy::outage))};
  if (!may_retry(learned, Source::cloud, Operation::create, view.gpus, view.now)) {
    return {.why = provisioned.why + "; the cloud refused or failed; backing off"};
  }
  return create(view, Source::cloud, why, need);
}

bool Supply::wake(const Gpu& gpu, const std::string& why, const std::optional<ForUsers>& need,
                  std::uint64_t fence) {
  return store_
      .change({.id = gpu.id,
               .version = gpu.version,
               .event = Event::wake,
               .intent = next_intent(gpu, Operation::wake, store_.now()),
               .reserved_for = WaiterId{},
               .fence = fence,
               .max_usd_per_hour = options_.max_usd_per_hour,
               .for_users = need},
              {options_.who, why})
      .has_value();
}

Provisioning Supply::create(const PoolView& view, Source source, const std::string& why,
                            const std::optional<ForUsers>& need, std::uint64_t fence) {
  if (source == Source::local) return create_local(view, why, need, fence);
  const auto pause = creation_pause(store_);
  if (pause) return {.why = "creation in the cloud is paused: " + pause->why};
  if (in_maintenance(Origin::cloud, "")) return {.why = "a maintenance window of the cloud"};
  Gpu gpu = new_gpu(options_.identity, source);
  gpu.slots = options_.cloud_slots;
  if (options_.cloud_usd_per_hour) gpu.usd_per_hour = options_.cloud_usd_per_hour();
  if (const auto row = add(std::move(gpu), why, need, fence)) {
    return {Operation::create, row->id, source, why};
  }
  return {.why = refusal(store_, need)};
}

// A device that is free in the view may have been taken since, by an earlier create of the same
// tick too: then the next one is tried.
Provisioning Supply::create_local(const PoolView& view, const std::string& why,
                                  const std::optional<ForUsers>& need, std::uint64_t fence) {
  std::vector<FreeDevice> devices = free_devices(live_hosts(store_), view.gpus);
  std::erase_if(devices, [&](const FreeDevice& device) {
    return in_maintenance(Origin::local, device.host);
  });
  if (devices.empty()) return {.why = "no local device is free"};
  for (const FreeDevice& device : devices) {
    Gpu gpu = new_gpu(options_.identity, Source::local);
    gpu.host = device.host;
    gpu.device = device.device;
    gpu.slots = device.slots;
    if (const auto row = add(std::move(gpu), why, need, fence)) {
      return {Operation::create, row->id, Source::local, why};
    }
  }
  return {.why = refusal(store_, need)};
}

std::optional<Gpu> Supply::add(Gpu gpu, const std::string& why, const std::optional<ForUsers>& need,
                               std::uint64_t fence) {
  gpu.intent = next_intent(gpu, Operation::create, store_.now());
  return store_.add({.gpu = std::move(gpu),
                     .max_gpus = max_gpus(),
                     .max_usd_per_hour = options_.max_usd_per_hour,
                     .fence = fence,
                     .for_users = need},
                    {options_.who, why});
}

bool cloud_switched_on(PoolStore& store) { return k_cloud_on.read(store).value_or(false); }

void switch_cloud(PoolStore& store, bool on) { k_cloud_on.write(store, on); }

std::optional<CreationPause> creation_pause(PoolStore& store) {
  const std::optional<CreationPause> pause = k_creation_pause.read(store);
  return pause && pause->until > store.now() ? pause : std::nullopt;
}

void pause_creation(PoolStore& store, Duration length, const std::string& why) {
  const bool known = creation_pause(store).has_value();
  k_creation_pause.write(store, {store.now() + length, why});
  if (!known) store.record(Cause{"cloud", std::string(notice::k_creation_paused) + why});
}

}  // namespace navtalk
