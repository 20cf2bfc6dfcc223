// Guarded<T>: a value that several threads share, reached only under its lock:
// `count.with([](int& n) { return ++n; })`. Do not keep references to the value past the lambda.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace navtalk {

template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <class F>
  decltype(auto) with(F&& use) {
    const std::lock_guard lock(mutex_);
    return std::invoke(std::forward<F>(use), value_);
  }
  template <class F>
  decltype(auto) with(F&& use) const {
    const std::lock_guard lock(mutex_);
    return std::invoke(std::forward<F>(use), value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

}  // namespace navtalk
