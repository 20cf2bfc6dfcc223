#include "scheduler/scaling/scaler.h"

#include <algorithm>

#include "core/log/log.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"
#include "scheduler/pool/drain_notices.h"
#include "scheduler/pool/fail_row.h"
#include "scheduler/pool/offline_demand.h"
#include "scheduler/pool/settings.h"
#include "scheduler/scaling/decide.h"
#include "scheduler/scaling/explain.h"

namespace navtalk {
namespace {

constexpr Setting<ScalerMemory> k_memory{setting_name::k_scaler_memory, as_text,
                                         parse_scaler_memory};
constexpr Setting<Headroom> k_headroom{setting_name::k_headroom, as_text, parse_headroom};
constexpr Duration k_forget_every = std::chrono::hours(1);

constexpr const char* k_drained_ahead = "a maintenance window is near or under way";
constexpr const char* k_maintenance_over = "the maintenance window is over";

void explain_timetable(const Timetable& timetable, const MaintenancePlan& plan,
                       const PoolView& view, Tick& tick) {
  const auto until = [](const ActiveEntry& entry) {
    return "'" + printable(entry.name) + "' until " +
           rfc3339(std::chrono::time_point_cast<std::chrono::system_clock::duration>(entry.until));
  };
  std::vector<std::string> lines;
  if (const auto active = timetable.active()) lines.push_back("schedule: " + until(*active));
  for (const ActiveEntry& entry : timetable.maintenance()) {
    lines.push_back("maintenance: " + until(entry));
  }
  const auto tell = [&](const std::vector<std::size_t>& indices, const char* what,
                        const char* why) {
    for (const std::size_t i : indices) {
      if (i < view.gpus.size()) lines.push_back(what + view.gpus[i].id.text + ": " + why);
    }
  };
  tell(plan.drain, "drain ", k_drained_ahead);
  tell(plan.undrain, "undrain ", k_maintenance_over);
  tick.explanation.insert(tick.explanation.begin(), lines.begin(), lines.end());
}

}  // namespace

Scaler::Scaler(PoolStore& store, Supply& supply, DemandTracker& demand_tracker,
               const Provider* cloud, ScalerOptions options)
    : store_(store),
      supply_(supply),
      demand_tracker_(demand_tracker),
      cloud_(cloud),
      options_(std::move(options)),
      timetable_(options_.timetable ? options_.timetable
                                    : std::make_shared<const Timetable>(options_.limits)),
      limits_(timetable_->limits()) {}

Scaler::~Scaler() {
  try {
    store_.yield_scaler(options_.owner);
  } catch (const std::exception& error) {
    log::debug("the scaler's lease runs out by itself", {{"error", error.what()}});
  }
}

Snapshot Scaler::snapshot(const PoolView& view, const std::vector<Decision>& decisions) {
  Snapshot snapshot{.gpus = view.gpus,
                    .queued = static_cast<int>(view.waiters.size()),
                    .demand = demand_tracker_.demand(Duration{})};
  SourceState& local = snapshot.sources[static_cast<std::size_t>(Source::local)];
  std::vector<Host> hosts = live_hosts(store_);
  std::erase_if(hosts, [&](const Host& host) {
    return timetable_->in_maintenance(Origin::local, host.name);
  });
  local.available = !hosts.empty();
  for (const FreeDevice& device : free_devices(hosts, view.gpus)) {
    local.next_slots.push_back(device.slots);
  }
  local.creatable = static_cast<int>(local.next_slots.size());
  if (cloud_ != nullptr) {
    snapshot.sources[static_cast<std::size_t>(cloud_->source())] = {
        .available = true,
        .creatable =
            timetable_->in_maintenance(Origin::cloud, "") ? 0 : cloud_->creatable(view.gpus),
        .slots = options_.cloud_slots,
        .usd_per_hour = cloud_->expected_usd_per_hour()};
    for (const Gpu& gpu : view.gpus) {
      std::string place = gpu.source == cloud_->source() ? cloud_->place(gpu) : "";
      if (!place.empty()) snapshot.places.insert_or_assign(gpu.id, std::move(place));
    }
  }
  recent_.clear();
  for (const Decision& decision : decisions) {
    if (!decision.shadow) recent_.push_back({decision.at, decision.target});
  }
  snapshot.recent = recent_;
  snapshot.memory = k_memory.read(store_).value_or(ScalerMemory{});
  snapshot.memory.headroom = k_headroom.read(store_).value_or(Headroom{});
  snapshot.outages = read_outages(store_);
  snapshot.offline = wanted_slots(read_offline_demand(store_), view.now);
  const auto pause = creation_pause(store_);
  if (pause) snapshot.creation_paused_until = pause->until;
  return snapshot;
}

Tick Scaler::decide_on(const PoolView& view, bool only_asked) {
  Snapshot now = snapshot(view, store_.decisions(view.now - limits_.hold_down));
  if (only_asked && options_.has_asked) {
    for (const Gpu& gpu : view.gpus) {
      if (may_return(gpu) && !options_.has_asked(gpu)) now.unasked.insert(gpu.id);
    }
  }
  Tick tick{.held = true, .plan = decide(now, limits_, view.now)};
  tick.explanation = explain(tick.plan, limits_, now.demand);
  return tick;
}

MaintenancePlan Scaler::maintenance(const PoolView& view) {
  return plan_maintenance(view.gpus, *timetable_,
                          k_maintenance_drains.read(store_).value_or(MaintenanceDrains{}));
}

// The list is written before the rows, so that a GPU that was drained is always known to be given back.
// Sessions are told, and end or move when the window begins.
int Scaler::carry_out(const MaintenancePlan& plan, const PoolView& view, std::uint64_t fence) {
  // What an operator has taken off the list since it was read as `before` stays off. Returns the list as it is now.
  const auto write = [&](const MaintenanceDrains& wanted, const MaintenanceDrains& before) {
    const auto is_in = [](const MaintenanceDrains& drains, const GpuId& id) {
      return std::find(drains.begin(), drains.end(), id) != drains.end();
    };
    MaintenanceDrains drains;
    k_maintenance_drains.update(store_, [&](MaintenanceDrains& listed) {
      drains = wanted;
      std::erase_if(drains,
                    [&](const GpuId& id) { return is_in(before, id) && !is_in(listed, id); });
      listed = drains;
    });
    return drains;
  };
  MaintenanceDrains both = plan.drains;
  for (const std::size_t i : plan.undrain) both.push_back(view.gpus[i].id);
  both = write(both, plan.before);
  const auto set = [&](const Gpu& gpu, bool draining, const char* why) {
    const GpuChange change{
        .id = gpu.id, .version = gpu.version, .draining = draining, .fence = fence};
    return store_.change(change, {"scaler " + options_.owner, why}).has_value();
  };
  MaintenanceDrains remaining = both;
  int changed = 0;
  for (const std::size_t i : plan.drain) {
    const Gpu& gpu = view.gpus[i];
    const auto by = timetable_->empty_by(origin_of(gpu), gpu.host);
    const Duration left = by ? std::max(Duration{}, *by - timetable_->wall()) : Duration{};
    give_drain_notice(store_, {.gpu = gpu.id, .ends_at = view.now + left});
    if (set(gpu, true, k_drained_ahead))
      ++changed;
    else
      std::erase(remaining,
                 gpu.id);  // somebody was quicker: their drain, if it is one, is not ours
  }
  for (const std::size_t i : plan.undrain) {
    if (std::find(both.begin(), both.end(), view.gpus[i].id) == both.end()) continue;
    withdraw_drain_notice(store_, view.gpus[i].id);
    if (!set(view.gpus[i], false, k_maintenance_over)) continue;
    std::erase(remaining, view.gpus[i].id);
    ++changed;
  }
  write(remaining, both);
  return changed;
}

void Scaler::remember_timetable() {
  const TimetableState state{timetable_->active(), timetable_->maintenance()};
  const auto known = k_timetable_state.read(store_).value_or(TimetableState{});
  if (known == state) return;
  k_timetable_state.write(store_, state);
  const auto name_of = [](const std::optional<ActiveEntry>& entry) {
    return entry ? "'" + printable(entry->name) + "'" : std::string("none");
  };
  const bool same = known.schedule.has_value() == state.schedule.has_value() &&
                    (!state.schedule || known.schedule->name == state.schedule->name);
  if (same) return;
  store_.record(Cause{"scaler " + options_.owner, "the schedule that holds is " +
                                                      name_of(state.schedule) + ", before it " +
                                                      name_of(known.schedule)});
}

Tick Scaler::dry_run() {
  limits_ = timetable_->limits();
  PoolView view = store_.view();
  const MaintenancePlan plan = maintenance(view);
  apply_to(view.gpus, plan);
  Tick tick = decide_on(view, false);
  explain_timetable(*timetable_, plan, view, tick);
  return tick;
}

bool Scaler::hold() { return store_.hold_scaler(options_.owner, options_.lease).has_value(); }

Tick Scaler::tick() {
  const auto fence = store_.hold_scaler(options_.owner, options_.lease);
  if (!fence) return {};
  limits_ = timetable_->limits();
  remember_timetable();
  PoolView view = store_.view();
  const MaintenancePlan plan = maintenance(view);
  const int moved = carry_out(plan, view, *fence);
  if (!plan.empty()) view = store_.view();
  Tick tick = decide_on(view, true);
  explain_timetable(*timetable_, plan, view, tick);
  tick.acted = moved;
  if (tick.plan.cloud != cloud_switched_on(store_)) switch_cloud(store_, tick.plan.cloud);
  for (const Action& action : tick.plan.actions) {
    if (act(action, view, *fence)) ++tick.acted;
  }
  remember(tick.plan, view);
  if (view.now - forgot_at_ >= k_forget_every) {
    store_.forget(view.now - options_.keep_events, view.now - k_keep_accounts);
    forgot_at_ = view.now;
  }
  return tick;
}

// A row that changed since the view was read is left to the next tick: compare-and-set says so.
bool Scaler::act(const Action& action, const PoolView& view, std::uint64_t fence) {
  using Kind = Action::Kind;
  const std::string why(action.why);
  const Cause cause{"scaler " + options_.owner, why};
  if (action.kind == Kind::create) {
    return supply_.create(view, action.source, why, {}, fence).operation != Operation::none;
  }
  const Gpu& gpu = view.gpus.at(action.index);
  GpuChange change{.id = gpu.id, .version = gpu.version, .fence = fence};
  switch (action.kind) {
    case Kind::wake:
      return supply_.wake(gpu, why, {}, fence);
    case Kind::drain:
      change.draining = true;
      return store_.change(change, cause).has_value();
    case Kind::pause:
      change.event = Event::pause;
      change.intent = next_intent(gpu, Operation::pause, view.now);
      return store_.change(change, cause).has_value();
    case Kind::destroy:
    case Kind::clear_failed:
      change.event = Event::destroy;
      change.intent = next_intent(gpu, Operation::destroy, view.now);
      return store_.change(change, cause).has_value();
    case Kind::fail: {
      const std::string known =
          gpu.last_error.empty() ? why : why + "; its last answer: " + gpu.last_error;
      return fail_row(store_, gpu,
                      {.cause = {cause.who, known},
                       .clear_intent = true,
                       .start = Attempt::Result::timed_out,
                       .fence = fence});
    }
    case Kind::create:
      return false;
  }
  return false;
}

void Scaler::remember(const Plan& plan, const PoolView& view) {
  if (store_.setting(k_memory.name) != as_text(plan.memory)) k_memory.write(store_, plan.memory);
  if (plan.memory.headroom.at > TimePoint{}) {
    k_headroom.write(store_, plan.memory.headroom);
  }
  Decision decision{.at = view.now,
                    .policy = std::string(name(limits_.policy)),
                    .target = plan.target.least,
                    .supply = plan.capacity.supply(),
                    .busy = plan.capacity.busy,
                    .queued = static_cast<int>(view.waiters.size()),
                    .cloud = plan.cloud,
                    .actions = summary(plan)};
  store_.record(decision);
  if (!plan.shadow || !limits_.shadow) return;
  decision.policy = std::string(name(*limits_.shadow));
  decision.shadow = true;
  decision.target = plan.shadow->least;
  decision.actions.clear();
  store_.record(decision);
}

}  // namespace navtalk
