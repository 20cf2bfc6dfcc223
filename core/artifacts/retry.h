// How long to wait before a request is repeated. Pure.
#pragma once

#include <chrono>
#include <optional>

namespace navtalk {

// After so many failures in a row (from 1): 0.25 s, doubled each time, at most 8 s. `chance` (0 to 1)
// subtracts up to a half, so that clients that failed together do not retry together. A longer delay
// that the server asked for counts instead, up to 30 s.
std::chrono::milliseconds retry_delay(int failures, double chance,
                                      std::optional<std::chrono::seconds> asked = {});

}  // namespace navtalk
