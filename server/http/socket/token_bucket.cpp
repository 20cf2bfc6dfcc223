#include "server/http/socket/token_bucket.h"

#include <algorithm>

namespace navtalk::server {
namespace {

constexpr std::chrono::duration<double> k_longest = std::chrono::hours(1);

}  // namespace

TokenBucket::TokenBucket(Rate rate, Clock::time_point now)
    : rate_(rate), tokens_(static_cast<double>(rate.burst)), filled_(now) {}

void TokenBucket::fill(Clock::time_point now) {
  const std::chrono::duration<double> since = now - filled_;
  if (since.count() <= 0) return;
  tokens_ = std::min(static_cast<double>(rate_.burst), tokens_ + since.count() * rate_.per_second);
  filled_ = now;
}

std::size_t TokenBucket::available(Clock::time_point now) {
  fill(now);
  return tokens_ < 0 ? 0 : static_cast<std::size_t>(tokens_);
}

void TokenBucket::take(std::size_t tokens, Clock::time_point now) {
  fill(now);
  tokens_ -= static_cast<double>(tokens);
}

TokenBucket::Clock::duration TokenBucket::time_to(std::size_t tokens, Clock::time_point now) {
  fill(now);
  const double missing = static_cast<double>(tokens) - tokens_;
  if (missing <= 0) return {};
  const std::chrono::duration<double> needed(missing / rate_.per_second);
  return std::chrono::ceil<Clock::duration>(std::min(needed, k_longest));
}

}  // namespace navtalk::server
