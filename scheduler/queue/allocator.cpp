#include "scheduler/queue/allocator.h"

#include <algorithm>

#include "core/log/log.h"
#include "scheduler/forecast/wait_estimate.h"
#include "scheduler/pool/update_row.h"

namespace navtalk {
namespace {

constexpr Duration k_retry_after = std::chrono::seconds(10);  // where no better estimate is known
// One view of the pool serves all waiters for this long.
constexpr Duration k_view_fresh = std::chrono::milliseconds(200);
// A waiter's promise is recorded this often: recording every one would fill the store.
constexpr Duration k_promise_every = std::chrono::seconds(15);

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

Allocation Allocator::arrive(Claimant claimant) {
  claimant = complete(std::move(claimant));
  if (auto lease = store_.claim(claimant, options_.lease)) return *lease;
  const auto position = options_.queue_limit == 0
                            ? std::nullopt
                            : store_.enqueue(claimant, options_.queue_limit, options_.lease);
  if (!position) {
    supply_.ensure_for_refused();
    return NoGpu{options_.queue_limit == 0 ? "no GPU is available"
                                           : "no GPU is available and the queue is full",
                 k_retry_after};
  }
  supply_.ensure_for_waiters();
  return waiting(claimant);
}

Allocation Allocator::check(Claimant claimant) {
  claimant = complete(std::move(claimant));
  if (auto lease = store_.claim(claimant, options_.lease)) {
    promised_.with([&](auto& promised) { promised.erase(claimant.id); });
    return *lease;
  }
  return waiting(claimant);
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
  if (waiter == view->waiters.end()) {
    // It came after the view was taken, or its place in the queue expired.
    store_.enqueue(claimant, options_.queue_limit, options_.lease);
    invalidate_view();
    view = recent_view();
    waiter = find(*view);
  }
  if (waiter == view->waiters.end()) return NoGpu{"the queue is full", k_retry_after};
  if (view->now - waiter->arrived_at >= options_.queue_timeout) {
    leave(claimant.id);
    return NoGpu{"no GPU became available in time", k_retry_after};
  }
  std::optional<Duration> wait = eta(*view, waiter->position);
  // No ETA beyond the queue timeout.
  if (wait && view->now - waiter->arrived_at + *wait > options_.queue_timeout) wait.reset();
  promise(claimant, wait);
  return Waiting{waiter->position, wait};
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
  log::debug("connected", {{"lease", lease.id.text}, {"gpu", lease.gpu.text}});
  supply_.prepare_next();
}

void Allocator::fail_gpu(const Lease& lease, const std::string& why) {
  update_row(store_, lease.gpu, {options_.gateway, why}, [&](const Gpu& gpu) {
    // A GPU that is being paused or destroyed, or has failed, is not failed again.
    const bool leaving = gpu.state == State::stopping || gpu.state == State::paused;
    const bool fails = next(gpu.state, Event::fail) && !leaving;
    return fails ? std::optional(GpuChange{.event = Event::fail, .last_error = why}) : std::nullopt;
  });
  log::warn("a worker could not be used", {{"gpu", lease.gpu.text}, {"error", why}});
  supply_.prepare_next();
}

void Allocator::connect_failed(const Lease& lease, const std::string& why) {
  if (store_.unclaim(lease.id, lease.epoch)) {
    fail_gpu(lease, why);
  } else {
    // Its lease expired; the slot may be leased again, and the new holder judges the GPU.
    log::warn("a worker could not be used, under a lease that had expired",
              {{"gpu", lease.gpu.text}, {"error", why}});
  }
}

void Allocator::worker_lost(const Lease& lease, const std::string& why) {
  store_.release(lease.id, lease.epoch);
  fail_gpu(lease, why);
}

void Allocator::leave(const WaiterId& waiter) {
  promised_.with([&](auto& promised) { promised.erase(waiter); });
  store_.leave(waiter);
}

void Allocator::release(const Lease& lease) { store_.release(lease.id, lease.epoch); }

Renewal Allocator::renew() { return store_.renew(options_.gateway, options_.lease); }

}  // namespace navtalk
