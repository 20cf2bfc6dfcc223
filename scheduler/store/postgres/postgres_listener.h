// Counts the NOTIFYs of one channel, on a connection and a thread of its own. It reconnects; what may
// have been missed meanwhile counts as one. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "core/base/time.h"
#include "core/base/unique_fd.h"
#include "core/log/error_throttle.h"

namespace navtalk {

class PostgresListener {
 public:
  PostgresListener(std::string url, std::string channel);

  // Returns when the count differs from `seen`, the time is over or a stop is requested. The count is
  // 0 until the first connection listens.
  std::uint64_t wait(std::uint64_t seen, Duration at_most, const std::stop_token& stop);

 private:
  void run(const std::stop_token& stop);
  void listen(const std::stop_token& stop);
  void count_one();

  std::string url_, channel_;
  UniqueFd wake_;  // readable when the thread shall end
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t count_ = 0;
  // An outage ends as soon as it listens again.
  ErrorThrottleLog outage_{"pool store: changes of other processes", std::chrono::seconds(0)};
  std::jthread thread_;  // last: ends first
};

}  // namespace navtalk
