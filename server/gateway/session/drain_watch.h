// Reads from the pool's store by when the sessions of drained GPUs have to end. Of the I/O thread; the store
// is called on the blocking threads.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <map>

#include "core/log/error_throttle.h"
#include "scheduler/pool/pool_store.h"
#include "server/http/blocking_threads.h"

namespace navtalk::server {

class DrainWatch {
 public:
  using Clock = std::chrono::steady_clock;
  struct End {
    Clock::time_point at{};
    bool last = false;  // operators keep every GPU back
  };
  using Ends = std::map<GpuId, End>;

  // `tell` gets all of them, whenever they may have changed. What it is given outlives it.
  DrainWatch(const boost::asio::any_io_executor& executor, PoolStore& store,
             BlockingThreads& threads, ErrorThrottleLog& errors,
             std::function<void(const Ends&)> tell);
  // Something changed in the pool.
  void note_change();

 private:
  boost::asio::awaitable<void> look();
  Ends read() const;

  PoolStore& store_;
  BlockingThreads& threads_;
  ErrorThrottleLog& errors_;
  const std::function<void(const Ends&)> tell_;
  boost::asio::steady_timer pause_;
  bool due_ = false, looking_ = false;
};

}  // namespace navtalk::server
