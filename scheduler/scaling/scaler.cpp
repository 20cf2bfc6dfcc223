#include "scheduler/scaling/scaler.h"

#include <algorithm>

#include "core/log/log.h"
#include "scheduler/pool/fail_row.h"
#include "scheduler/pool/settings.h"
#include "scheduler/scaling/decide.h"
#include "scheduler/scaling/explain.h"

namespace navtalk {
namespace {

constexpr Setting<ScalerMemory> k_memory{setting_name::k_scaler_memory, as_text,
                                         parse_scaler_memory};
constexpr Setting<Headroom> k_headroom{setting_name::k_headroom, as_text, parse_headroom};
constexpr Duration k_forget_every = std::chrono::hours(1);

}  // namespace

Scaler::Scaler(PoolStore& store, Supply& supply, DemandTracker& demand_tracker,
               const Provider* cloud, ScalerOptions options)
    : store_(store),
      supply_(supply),
      demand_tracker_(demand_tracker),
      cloud_(cloud),
      options_(std::move(options)) {}

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
  const std::vector<Host> hosts = live_hosts(store_);
  local.available = !hosts.empty();
  for (const FreeDevice& device : free_devices(hosts, view.gpus)) {
    local.next_slots.push_back(device.slots);
  }
  local.creatable = static_cast<int>(local.next_slots.size());
  if (cloud_ != nullptr) {
    snapshot.sources[static_cast<std::size_t>(cloud_->source())] = {
        .available = true,
        .creatable = cloud_->creatable(view.gpus),
        .slots = options_.cloud_slots,
        .usd_per_hour = cloud_->expected_usd_per_hour()};
  }
  recent_.clear();
  for (const Decision& decision : decisions) {
    if (!decision.shadow) recent_.push_back({decision.at, decision.target});
  }
  snapshot.recent = recent_;
  snapshot.memory = k_memory.read(store_).value_or(ScalerMemory{});
  snapshot.memory.headroom = k_headroom.read(store_).value_or(Headroom{});
  snapshot.outages = read_outages(store_);
  const auto pause = creation_pause(store_);
  if (pause) snapshot.creation_paused_until = pause->until;
  return snapshot;
}

Tick Scaler::decide_on(const PoolView& view, bool only_asked) {
  Snapshot now = snapshot(view, store_.decisions(view.now - options_.limits.hold_down));
  if (only_asked && options_.has_asked) {
    for (const Gpu& gpu : view.gpus) {
      if (may_return(gpu) && !options_.has_asked(gpu)) now.unasked.insert(gpu.id);
    }
  }
  Tick tick{.held = true, .plan = decide(now, options_.limits, view.now)};
  tick.explanation = explain(tick.plan, options_.limits, now.demand);
  return tick;
}

Tick Scaler::dry_run() { return decide_on(store_.view(), false); }

bool Scaler::hold() { return store_.hold_scaler(options_.owner, options_.lease).has_value(); }

Tick Scaler::tick() {
  const auto fence = store_.hold_scaler(options_.owner, options_.lease);
  if (!fence) return {};
  const PoolView view = store_.view();
  Tick tick = decide_on(view, true);
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
                    .policy = std::string(name(options_.limits.policy)),
                    .target = plan.target.least,
                    .supply = plan.capacity.supply(),
                    .busy = plan.capacity.busy,
                    .queued = static_cast<int>(view.waiters.size()),
                    .cloud = plan.cloud,
                    .actions = summary(plan)};
  store_.record(decision);
  if (!plan.shadow || !options_.limits.shadow) return;
  decision.policy = std::string(name(*options_.limits.shadow));
  decision.shadow = true;
  decision.target = plan.shadow->least;
  decision.actions.clear();
  store_.record(decision);
}

}  // namespace navtalk
