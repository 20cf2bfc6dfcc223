// The one thread that waits for changes in the pool's store, for all users who wait for a slot.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <thread>

#include "core/log/error_throttle.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/queue/allocator.h"

namespace navtalk::server {

class ChangeWatcher {
 public:
  // Runs `on_change` on the executor after each change, and from time to time without one. What it
  // is given outlives it.
  ChangeWatcher(PoolStore& store, Allocator& allocator, ErrorThrottleLog& errors,
                boost::asio::any_io_executor executor, std::function<void()> on_change);

 private:
  void watch(const std::stop_token& stop);

  PoolStore& store_;
  Allocator& allocator_;
  ErrorThrottleLog& errors_;
  const boost::asio::any_io_executor executor_;
  const std::function<void()> on_change_;
  std::jthread thread_;
};

}  // namespace navtalk::server
