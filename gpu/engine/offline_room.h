// How many faces of offline renderings a lane may draw now, so that no picture of a live session is made later for it. Pure:
// the engine has the clock and the lanes.
//
//   nobody speaks to the device                  a full batch
//   sessions that have asked in the last 10 s    as many as leave each request that is expected, at the pace at which its
//                                                session asks, a lane as soon as it would have one without them;
//                                                and as many as leave a session that begins to speak a lane in time
//
// Times of batches are learned, so until the first one is known only a device without sessions works for jobs.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "gpu/engine/batch_times.h"

namespace navtalk {

struct DeviceForecast {
  using Clock = std::chrono::steady_clock;

  struct Lane {
    Clock::time_point free{};  // expected
    bool offline = false;      // draws for jobs now
  };
  std::vector<Lane> others{};  // lanes
  // When live requests come that no batch has yet, the earliest first: those that wait, and those that are expected.
  std::vector<Clock::time_point> requests{};
  bool sessions = false;  // some have asked lately
};

struct OfflineLimits {
  // What offline faces may add to the time of a live picture.
  std::chrono::microseconds delay{8'000};
  // What a session may have to wait that nobody expected to ask, where all lanes draw for jobs: half of what makes a picture
  // late.
  std::chrono::microseconds surprise{40'000};
};

// Offline faces beside `live` pictures in the batch that begins at `now`; `size`: of a full batch.
std::size_t offline_room(const DeviceForecast& device, const BatchTimes& times, std::size_t live,
                         std::size_t size, std::chrono::steady_clock::time_point now,
                         const OfflineLimits& limits = {});

}  // namespace navtalk
