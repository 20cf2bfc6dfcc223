// What the live sessions of one gateway add up to, for /metrics. Of the I/O thread.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace navtalk::server {

// Seconds from connecting to session.ready.
inline constexpr std::array<double, 9> k_wait_bounds = {0.1, 0.5, 1, 2, 5, 15, 60, 120, 300};

struct SessionCounters {
  std::uint64_t ready = 0;  // sessions that got their worker
  std::uint64_t refused = 0, left_queue = 0, connect_failed = 0, worker_lost = 0, lease_lost = 0;
  std::uint64_t revoked = 0;  // ended because their key was revoked
  std::uint64_t resumed = 0, resume_failed = 0, workers_changed = 0;
  std::uint64_t slow_clients = 0;      // disconnected because they did not read
  std::uint64_t dropped_pictures = 0;  // for clients that did not read
  std::uint64_t shortages = 0;  // connections to workers for which this gateway had no descriptor
  std::uint64_t bytes_to_worker = 0, bytes_to_client = 0;
  std::array<double, k_wait_bounds.size() + 1> waits{};
  double waits_sum = 0;

  void count_ready(std::chrono::duration<double> waited) {
    const auto* const bound =
        std::lower_bound(k_wait_bounds.begin(), k_wait_bounds.end(), waited.count());
    ++ready;
    waits.at(static_cast<std::size_t>(bound - k_wait_bounds.begin())) += 1;
    waits_sum += waited.count();
  }
};

}  // namespace navtalk::server
