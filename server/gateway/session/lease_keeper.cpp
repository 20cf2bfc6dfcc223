#include "server/gateway/session/lease_keeper.h"

#include <algorithm>

#include "core/log/log.h"
#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr Duration k_renewal_retry = 1s;  // of a renewal that failed

}  // namespace

LeaseKeeper::LeaseKeeper(const asio::any_io_executor& executor, PoolStore& store,
                         Allocator& allocator, BlockingThreads& renewals, ErrorThrottleLog& errors)
    : store_(store),
      allocator_(allocator),
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
// A claim's own lease may be in the store long before the claim knows of it, since the store's answer
// comes late, or is lost and the question repeated. So an orphan is what no claim has although every
// question that was unsettled when it was first found has been settled.
asio::awaitable<void> LeaseKeeper::release_orphans(const Renewal& renewed) {
  std::set<std::string> found;
  for (const LeaseId& lease : renewed.leases) found.insert(lease.text);
  for (const WaiterId& waiter : renewed.waiters) found.insert(waiter.text);
  auto unsettled = Signal::Clock::time_point::max();
  for (const SlotClaim* claim : claims_) {
    found.erase(claim->id().text);
    if (claim->lease()) found.erase(claim->lease()->id.text);
    unsettled = std::min(unsettled, claim->unsettled_since().value_or(unsettled));
  }
  std::erase_if(unclaimed_, [&](const auto& entry) { return !found.contains(entry.first); });
  std::set<std::string> orphans;
  for (const std::string& id : found) {
    const auto [at, is_new] = unclaimed_.try_emplace(id, Signal::Clock::now());
    if (!is_new && at->second < unsettled) orphans.insert(id);
  }
  if (!orphans.empty()) co_await release(orphans, renewed);
}

asio::awaitable<void> LeaseKeeper::release(const std::set<std::string>& orphans,
                                           const Renewal& renewed) {
  log::warn("leases without a session are released", {{"count", std::to_string(orphans.size())}});
  const auto work = [&] {
    for (const Lease& lease : store_.leases()) {
      if (orphans.contains(lease.id.text)) allocator_.release(lease);
    }
    for (const WaiterId& waiter : renewed.waiters) {
      if (orphans.contains(waiter.text)) allocator_.leave(waiter);
    }
  };
  co_await renewals_.run(work);
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
