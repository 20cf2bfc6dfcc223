#include "scheduler/queue/allocator.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/log/log.h"
#include "scheduler/forecast/wait_estimate.h"
#include "scheduler/queue/withdrawn.h"

namespace navtalk {
namespace {

constexpr Duration k_retry_after = std::chrono::seconds(10);  // where no better estimate is known
// One view of the pool serves all waiters for this long.
constexpr Duration k_view_fresh = std::chrono::milliseconds(200);
// A waiter's promise is recorded this often: recording every one would fill the store.
constexpr Duration k_promise_every = std::chrono::seconds(15);
// Without a queue users wait for slots that are lent alone, which are back within 10 s.
constexpr Duration k_lent_patience = std::chrono::seconds(15);

// Slots of the claimant's that offline work gives back when it waits.
std::size_t lent_to(const Claimant& claimant, const std::vector<Gpu>& gpus) {
  std::size_t slots = 0;
  for (const Gpu& gpu : gpus) {
    const bool allowed = gpu.dedicated_to.empty() || gpu.dedicated_to == claimant.tenant;
    const bool near = gpu.source != Source::local || gpu.host == claimant.host;
    const bool refused = std::ranges::find(claimant.refuse, gpu.id) != claimant.refuse.end();
    if (gpu.serving() && !silent(gpu) && !gpu.draining && allowed && near && !refused)
      slots += static_cast<std::size_t>(gpu.lent);
  }
  return slots;
}

std::optional<Duration> retry_after(const PoolView& view) {
  return withdrawn(view.gpus) ? std::nullopt : std::optional(k_retry_after);
}

// Slots that the claimant refuses are not free to it: its session has just failed there.
std::shared_ptr<const PoolView> as_seen_by(const Claimant& claimant,
                                           std::shared_ptr<const PoolView> view) {
  if (claimant.refuse.empty()) return view;
  PoolView own = *view;
  for (Gpu& gpu : own.gpus) {
    if (std::ranges::find(claimant.refuse, gpu.id) == claimant.refuse.end()) continue;
    gpu.slots = gpu.sessions;
    gpu.lent = 0;
  }
  return std::make_shared<const PoolView>(std::move(own));
}

}  // namespace

Allocator::Allocator(PoolStore& store, Supply& supply, DemandTracker& demand_tracker,
                     AllocatorOptions options)
    : store_(store),
      supply_(supply),
      demand_tracker_(demand_tracker),
      options_(std::move(options)) {}

Claimant Allocator::complete(Claimant claimant) const {
  claimant.gateway = options_.gateway;
  claimant.host = options_.host;
  return claimant;
}

// A slot that is lent comes back only when somebody waits, so its user has a place whatever the queue's limit.
std::optional<std::size_t> Allocator::take_place(const Claimant& claimant) {
  if (options_.queue_limit > 0) {
    if (auto position = store_.enqueue(claimant, options_.queue_limit, options_.lease))
      return position;
  }
  const std::size_t lent = lent_to(claimant, store_.view().gpus);
  if (lent <= options_.queue_limit) return std::nullopt;
  if (claimant.max_sessions > 0) {
    const std::vector<Lease> leases = store_.leases();
    const auto held = std::ranges::count_if(leases, [&](const Lease& lease) {
      return lease.lane == Lane::live && lease.tenant == claimant.tenant;
    });
    if (held >= claimant.max_sessions) return std::nullopt;  // it could not have the slot
  }
  return store_.enqueue(claimant, lent, options_.lease);
}

Duration Allocator::patience() const {
  return options_.queue_limit > 0 ? options_.queue_timeout
                                  : std::min(options_.queue_timeout, k_lent_patience);
}

Allocation Allocator::arrive(Claimant claimant) {
  claimant = complete(std::move(claimant));
  if (auto lease = store_.claim(claimant, options_.lease)) return *lease;
  if (!take_place(claimant)) {
    supply_.ensure_for_refused();
    return full(claimant);
  }
  supply_.ensure_for_waiters();
  return waiting(claimant);
}

Allocation Allocator::check(Claimant claimant) {
  claimant = complete(std::move(claimant));
  if (auto lease = store_.claim(claimant, options_.lease)) {
    promised_.with([&](auto& promised) { promised.erase(claimant.id); });
    kept_places_.tries(claimant.id, lease->id);
    return *lease;
  }
  return waiting(claimant);
}

Allocation Allocator::borrow(Claimant claimant) {
  claimant = complete(std::move(claimant));
  claimant.lane = Lane::batch;
  if (auto lease = store_.claim(claimant, options_.lease)) return *lease;
  return NoGpu{.message = "no GPU is free for offline work", .retry_after = k_retry_after};
}

std::optional<NoGpu> Allocator::timed_out(const WaiterId& waiter, TimePoint since,
                                          const PoolView& view) {
  if (view.now - since < patience()) return std::nullopt;
  leave(waiter);
  return NoGpu{"no GPU became available in time", retry_after(view)};
}

std::shared_ptr<const PoolView> Allocator::recent_view() {
  const TimePoint now = store_.now();
  auto view = cached_.with([&](const CachedView& cached) {
    return cached.view && now - cached.at < k_view_fresh ? cached.view : nullptr;
  });
  if (view) return view;
  view = std::make_shared<const PoolView>(store_.view());
  cached_.with([&](CachedView& cached) { cached = {now, view}; });
  return view;
}

void Allocator::invalidate_view() {
  cached_.with([](CachedView& cached) { cached.view.reset(); });
}

Allocation Allocator::waiting(const Claimant& claimant) {
  const auto find = [&](const PoolView& view) {
    return std::find_if(view.waiters.begin(), view.waiters.end(),
                        [&](const Waiter& waiter) { return waiter.claimant.id == claimant.id; });
  };
  std::shared_ptr<const PoolView> view = recent_view();
  auto waiter = find(*view);
  std::optional<std::size_t> position;
  if (waiter == view->waiters.end()) {
    // It came after the view was taken, or its place expired while nobody could renew it.
    position = take_place(claimant);
    if (!position) return full(claimant);
    invalidate_view();
    view = recent_view();
    waiter = find(*view);
  }
  // Another thread may have kept a view that is older than the place.
  const bool seen = waiter != view->waiters.end();
  const TimePoint came_at = seen ? waiter->arrived_at : claimant.came_at.value_or(view->now);
  if (!claimant.refuse.empty()) kept_places_.keep(claimant, came_at);
  const TimePoint since = std::max(came_at, claimant.lost_gpu_at.value_or(came_at));
  if (seen) position = waiter->position;
  if (auto over = timed_out(claimant.id, since, *view)) return *over;
  *position += kept_places_.ahead_of(claimant, came_at, view->waiters);
  std::optional<Duration> wait = eta(*as_seen_by(claimant, view), *position);
  // No ETA beyond the queue timeout.
  if (wait && view->now - since + *wait > patience()) wait.reset();
  promise(claimant, wait);
  return Waiting{
      .position = *position, .eta = wait, .since = since, .withdrawn = withdrawn(view->gpus)};
}

bool Allocator::at_its_limit(const Claimant& claimant) {
  if (claimant.max_waiting < 0 || options_.queue_limit == 0) return false;
  const std::vector<Waiter> waiters = store_.view().waiters;
  return std::count_if(waiters.begin(), waiters.end(), [&](const Waiter& waiter) {
           return waiter.claimant.tenant == claimant.tenant;
         }) >= claimant.max_waiting;
}

NoGpu Allocator::full(const Claimant& claimant) {
  if (at_its_limit(claimant)) {
    return {.message = fmt::format("no GPU is available to tenant '{}', and no more than {} of its "
                                   "users may wait",
                                   claimant.tenant.text, claimant.max_waiting),
            .retry_after = k_retry_after,
            .tenant_limit = true};
  }
  return {options_.queue_limit == 0 ? "no GPU is available"
                                    : "no GPU is available and the queue is full",
          retry_after(*recent_view())};
}

std::optional<Duration> Allocator::eta(const PoolView& view, std::size_t position) {
  const auto estimated = estimate(position, view.gpus, demand_tracker_.demand(),
                                  demand_tracker_.eta_correction(), view.now);
  return estimated ? std::optional(estimated->p90) : std::nullopt;
}

void Allocator::promise(const Claimant& claimant, std::optional<Duration> eta) {
  if (!eta) return;
  const TimePoint now = store_.now();
  const bool due = promised_.with([&](auto& promised) {
    TimePoint& last = promised[claimant.id];
    if (now - last < k_promise_every) return false;
    last = now;
    return true;
  });
  if (due) store_.record(Promise{.waiter = claimant.id, .made_at = now, .promised = *eta});
}

void Allocator::connected(const Lease& lease) {
  kept_places_.drop(lease.id);
  log::debug("connected", {{"lease", lease.id.text}, {"gpu", lease.gpu.text}});
  supply_.prepare_next();
}

void Allocator::unclaim(const Lease& lease) { store_.unclaim(lease.id, lease.epoch); }

void Allocator::leave(const WaiterId& waiter) {
  promised_.with([&](auto& promised) { promised.erase(waiter); });
  kept_places_.drop(waiter);
  store_.leave(waiter);
}

void Allocator::release(const Lease& lease) {
  kept_places_.drop(lease.id);
  store_.release(lease.id, lease.epoch);
}

TimePoint Allocator::release_lost(const Lease& lease) {
  release(lease);
  return store_.now();
}

Renewal Allocator::renew() { return store_.renew(options_.gateway, options_.lease); }

}  // namespace navtalk
