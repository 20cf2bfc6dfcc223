// Keeps the leases and queue places of this gateway alive: renews them every third of the lease
// time, tells a claim that its lease was lost, and releases what the store holds for this gateway
// although no claim has it. Of the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <set>
#include <string>

#include "core/log/error_throttle.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/queue/allocator.h"
#include "server/gateway/session/slot_claim.h"
#include "server/http/blocking_threads.h"

namespace navtalk::server {

class LeaseKeeper {
 public:
  // `renewals` has one thread and no other calls, so that no queue delays a renewal.
  LeaseKeeper(const boost::asio::any_io_executor& executor, PoolStore& store, Allocator& allocator,
              BlockingThreads& renewals, ErrorThrottleLog& errors);

  void add(SlotClaim& claim) { claims_.insert(&claim); }
  void remove(SlotClaim& claim) { claims_.erase(&claim); }

  // Renews until stop().
  boost::asio::awaitable<void> run();
  void stop();
  // Releases what the claims that are left could not release themselves. Blocks; when the I/O loop
  // has ended.
  void release_all();

 private:
  boost::asio::awaitable<void> renew();
  boost::asio::awaitable<void> release_orphans(const Renewal& renewed);
  boost::asio::awaitable<void> release(const std::set<std::string>& orphans,
                                       const Renewal& renewed);

  PoolStore& store_;
  Allocator& allocator_;
  BlockingThreads& renewals_;
  ErrorThrottleLog& errors_;
  boost::asio::steady_timer timer_;
  bool stopped_ = false;
  std::set<SlotClaim*> claims_{};
  // Ids of leases and waiters that the last renewals found in the store for this gateway, but in no
  // claim; and when that was first so.
  std::map<std::string, Signal::Clock::time_point> unclaimed_{};
};

}  // namespace navtalk::server
