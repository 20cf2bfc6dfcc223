// How long to wait before something is tried again. Pure.
#pragma once

#include <chrono>
#include <optional>

namespace navtalk {

// After so many failures in a row (from 1): 0.25 s, doubled each time, 8 s at most, of which `chance`
// (0 to 1) takes away up to a half, so that many who failed at once do not come back at once. What the
// server asked for counts if it is longer, up to 30 s.
std::chrono::milliseconds retry_delay(int failures, double chance,
                                      std::optional<std::chrono::seconds> asked = {});

}  // namespace navtalk
