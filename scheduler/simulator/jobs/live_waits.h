// What jobs did to the users of the same pool: the waits of each user with them, compared with those of the same user
// in the same pool without them. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/time.h"

namespace navtalk {

struct LiveWaits {
  std::size_t users = 0;
  double p99_wait_s = 0;               // of all users, whatever they wait for
  double p99_wait_without_jobs_s = 0;  // likewise, of the pool without jobs
  std::size_t delayed = 0;             // users who waited longer than without jobs
  double p50_delay_s = 0, p99_delay_s = 0, max_delay_s = 0;  // of these: by how much
  double late_share = 0;  // of all users: delayed by more than k_lent_back
};

// Both have the same sessions in the same order.
LiveWaits compare_waits(std::span<const Duration> with_jobs, std::span<const Duration> without);

}  // namespace navtalk
