// What the fake of NVML answers (fake_nvml.cpp, a shared library of its own): the test that opens it sets this, while any
// thread asks.
#pragma once

#include <array>
#include <condition_variable>
#include <mutex>
#include <string>

namespace navtalk::tests {

class FakeNvml {
 public:
  struct Answers {
    int init_result = 0, find_result = 0, utilization_result = 0, temperature_result = 0;
    unsigned busy = 37, celsius = 61;
    bool hang = false;  // every reading waits until it is false again
  };
  struct Calls {
    int starts = 0, shutdowns = 0, readings = 0;  // so far; readings are counted as they begin
    int hangs = 0;                                // readings that had to wait
    std::array<char, 64> bus{};                   // of the last GPU that was looked up
  };

  void set(const Answers& answers) {
    const std::lock_guard lock(mutex_);
    answers_ = answers;
    changed_.notify_all();
  }
  Answers answers() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }
  Calls calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  template <class Change>
  void count(const Change& change) {
    const std::lock_guard lock(mutex_);
    change(calls_);
    changed_.notify_all();
  }
  void wait_while_hanging() {
    std::unique_lock lock(mutex_);
    if (!answers_.hang) return;
    ++calls_.hangs;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !answers_.hang; });
  }
  // Until so many more calls of that kind have begun than now.
  void wait_for_more(int Calls::*kind, int more) {
    std::unique_lock lock(mutex_);
    const int until = calls_.*kind + more;
    changed_.wait(lock, [&] { return calls_.*kind >= until; });
  }
  void wait_for_a_hang() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return calls_.hangs > 0; });
  }
  void forget_calls() {
    const std::lock_guard lock(mutex_);
    calls_ = {};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Answers answers_{};
  Calls calls_{};
};

}  // namespace navtalk::tests
