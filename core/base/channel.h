// Channel<T>: a bounded queue between threads. A full channel makes the producer wait
// (back-pressure), an empty one the consumer; both wake on close() or a stop request. Safe from any
// number of threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "core/base/check.h"

namespace navtalk {

template <class T>
class Channel {
 public:
  explicit Channel(std::size_t capacity) : capacity_(capacity) { NAVTALK_CHECK(capacity > 0); }

  // Waits for room. False, and the value is dropped, once the channel is closed or `stop` asked.
  bool push(T value, const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, stop, [this] { return closed_ || values_.size() < capacity_; });
    if (closed_ || values_.size() >= capacity_) return false;
    values_.push_back(std::move(value));
    filled_.notify_one();
    return true;
  }

  // Waits for a value. A closed channel still hands out what it holds, then nullopt; a stop request
  // gives nullopt only when nothing is there.
  std::optional<T> pop(const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, stop, [this] { return closed_ || !values_.empty(); });
    if (values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    room_.notify_one();
    return value;
  }

  // No more values: producers fail, consumers drain. May be called more than once.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    room_.notify_all();
    filled_.notify_all();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable_any room_, filled_;
  std::deque<T> values_;
  bool closed_ = false;
};

}  // namespace navtalk
