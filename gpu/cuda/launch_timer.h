// Times what a device does, by its own clock.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <vector>

#include "gpu/cuda/stream.h"

namespace navtalk::cuda {

// One owner, one thread; the device that is current when it is made.
class LaunchTimer {
 public:
  LaunchTimer();
  ~LaunchTimer();
  LaunchTimer(const LaunchTimer&) = delete;
  LaunchTimer& operator=(const LaunchTimer&) = delete;

  // `enqueue` puts `count` operations of equal work into the stream. They become a graph, which is replayed 50 times to warm up, then
  // for `budget` and at least 200 times. Each result is the time of one replay between two CUDA events, divided by `count`: neither
  // the host nor the gaps between launches are in it. Error{interrupted}, Error{terminated} between replays.
  std::vector<std::chrono::duration<double>> time(const std::function<void(Stream)>& enqueue,
                                                  int count, std::chrono::duration<double> budget,
                                                  const std::stop_token& stop);

 private:
  Stream stream_ = nullptr;
  void *begin_ = nullptr, *end_ = nullptr;  // cudaEvent_t
};

// Bytes per second, read and written together, of a copy of a gigabyte inside the device (of an eighth of its free memory if that is
// less): what no kernel that moves memory exceeds.
double copy_rate(LaunchTimer& timer, const std::stop_token& stop);

}  // namespace navtalk::cuda
