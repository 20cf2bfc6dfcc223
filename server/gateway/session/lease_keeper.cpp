#include "server/gateway/session/lease_keeper.h"

#include "core/log/log.h"
#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr Duration k_renewal_retry = 1s;  // of a renewal that failed

}  // namespace

LeaseKeeper::LeaseKeeper(const asio::any_io_executor& executor, PoolStore& store,
                         Allocator& allocator, BlockingThreads& threads, BlockingThreads& renewals,
                         ErrorThrottleLog& errors)
    : store_(store),
      allocator_(allocator),
      threads_(threads),
      renewals_(renewals),
      errors_(errors),
      timer_(executor) {}

asio::awaitable<void> LeaseKeeper::run() {
  const Duration every = allocator_.options().lease / 3;
  for (Duration pause = every;;) {
    timer_.expires_after(pause);
    co_await timer_.async_wait(k_tuple);
    if (stopped_) co_return;
    try {
      co_await renew();
      pause = every;
      errors_.well("leases");
    } catch (const std::exception& error) {
      // Nothing is known; the workers' fence protects against a second session on a slot.
      errors_.failed("leases", error.what());
      pause = std::min(every, k_renewal_retry);
    }
  }
}

void LeaseKeeper::stop() {
  stopped_ = true;
  timer_.cancel();
}

// A lease that the store no longer knows is by now the slot of somebody else.
asio::awaitable<void> LeaseKeeper::renew() {
  std::set<LeaseId> held;
  for (const SlotClaim* claim : claims_) {
    if (claim->lease()) held.insert(claim->lease()->id);
  }
  const Renewal renewed = co_await renewals_.run([this] { return allocator_.renew(); });
  for (const LeaseId& lease : renewed.leases) held.erase(lease);
  for (SlotClaim* claim : claims_) {
    if (claim->lease() && held.contains(claim->lease()->id)) claim->mark_lease_lost();
  }
  co_await release_orphans(renewed);
}

// What could not be released when its session ended (the store was away) would be renewed for ever.
// One that two renewals in a row find without a claim is not a claim that has just been made.
asio::awaitable<void> LeaseKeeper::release_orphans(const Renewal& renewed) {
  std::set<std::string> now;
  for (const LeaseId& lease : renewed.leases) now.insert(lease.text);
  for (const WaiterId& waiter : renewed.waiters) now.insert(waiter.text);
  for (const SlotClaim* claim : claims_) {
    now.erase(claim->id().text);
    if (claim->lease()) now.erase(claim->lease()->id.text);
  }
  const std::set<std::string> before = std::exchange(orphans_, now);
  std::erase_if(now, [&](const std::string& orphan) { return !before.contains(orphan); });
  if (now.empty()) co_return;
  log::warn("leases without a session are released", {{"count", std::to_string(now.size())}});
  const auto work = [this, now, renewed] {
    for (const Lease& lease : store_.leases()) {
      if (now.contains(lease.id.text)) allocator_.release(lease);
    }
    for (const WaiterId& waiter : renewed.waiters) {
      if (now.contains(waiter.text)) allocator_.leave(waiter);
    }
  };
  co_await threads_.run(work);
}

void LeaseKeeper::release_all() {
  for (const SlotClaim* claim : claims_) {
    try {
      if (const auto work = claim->pending_release()) work();
    } catch (const std::exception& error) {
      log::warn("a lease is left to expire", {{"error", error.what()}});
    }
  }
}

}  // namespace navtalk::server
