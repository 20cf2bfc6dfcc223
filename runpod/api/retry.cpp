#include "runpod/api/retry.h"

#include <algorithm>

namespace navtalk::runpod {

std::optional<std::chrono::milliseconds> retry_delay(const RetryPolicy& policy, int tries,
                                                     std::optional<std::chrono::milliseconds> asked,
                                                     double jitter) {
  if (tries >= policy.tries) return std::nullopt;
  if (asked && *asked > policy.patience) return std::nullopt;
  auto bound = policy.first;
  for (int i = 1; i < tries && bound < policy.most; ++i) bound *= 2;
  bound = std::min(bound, policy.most);
  const double waited = static_cast<double>(bound.count()) * std::clamp(jitter, 0.0, 1.0);
  const std::chrono::milliseconds delay(static_cast<long long>(waited));
  return std::max(delay, asked.value_or(std::chrono::milliseconds(0)));
}

}  // namespace navtalk::runpod
