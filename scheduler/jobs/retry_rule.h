// How often a job is tried, and when again. Pure.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/base/time.h"

namespace navtalk {

struct JobRules {
  Duration lease = std::chrono::seconds(30);  // expires when it is not renewed for so long
  int most_attempts = 3;
  // Tries that ended with the process that had the job, since its last finished segment. They are no failed tries.
  int most_losses = 10;
  Duration first_delay = std::chrono::seconds(5);  // after the first failed try; then twice as long
  Duration longest_delay = std::chrono::minutes(10);
};

// Between the failure of that attempt, counted from 1, and the next.
constexpr Duration retry_delay(const JobRules& rules, int attempt) {
  Duration delay = rules.first_delay;
  for (int i = 1; i < attempt && delay < rules.longest_delay; ++i) delay *= 2;
  return std::min(delay, rules.longest_delay);
}

// The pause before the next try after so many losses. The first loss is no reason to wait.
constexpr Duration delay_after_loss(const JobRules& rules, int losses) {
  return losses > 1 ? retry_delay(rules, losses - 1) : Duration{};
}

constexpr bool may_retry(const JobRules& rules, int attempts) {
  return attempts < rules.most_attempts;
}

}  // namespace navtalk
