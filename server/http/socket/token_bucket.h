// How much of something one may do: so much at once, and so much more each second. Pure: the time is
// given. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>

namespace navtalk::server {

class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;
  struct Rate {
    std::size_t burst = 0;
    double per_second = 0;  // above 0
  };

  TokenBucket(Rate rate, Clock::time_point now);

  // Whole tokens, at most the burst.
  std::size_t available(Clock::time_point now);
  // May take more than there are; the next ones come later then.
  void take(std::size_t tokens, Clock::time_point now);
  // Until so many are there, for as many as the burst has; an hour at most.
  Clock::duration time_to(std::size_t tokens, Clock::time_point now);

 private:
  void fill(Clock::time_point now);

  Rate rate_;
  double tokens_;
  Clock::time_point filled_;
};

}  // namespace navtalk::server
