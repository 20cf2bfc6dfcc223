// When a call may be repeated, and when. Pure.
#pragma once

#include <chrono>
#include <optional>

namespace navtalk::runpod {

struct RetryPolicy {
  std::chrono::milliseconds first{1'000};  // upper end of the first wait; it doubles
  std::chrono::milliseconds most{30'000};
  int tries = 5;                               // calls in all
  std::chrono::milliseconds patience{60'000};  // a server that asks for more is not waited for
};

// How long to wait after `tries` failed calls: full jitter (0 .. first * 2^(tries-1), at most
// `most`), never less than the server asked for. `jitter` is 0..1. nullopt: give up.
std::optional<std::chrono::milliseconds> retry_delay(const RetryPolicy& policy, int tries,
                                                     std::optional<std::chrono::milliseconds> asked,
                                                     double jitter);

}  // namespace navtalk::runpod
