// Where a job's result is in the bucket. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/jobs/job.h"

namespace navtalk::server {

struct SharedResult {
  std::string key{};
  std::uint64_t bytes = 0;
};
// nullopt: the job is not done, or its result was never meant for a bucket.
std::optional<SharedResult> shared_result(const Job& job);

}  // namespace navtalk::server
