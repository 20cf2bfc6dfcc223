#include "gpu/engine/offline_room.h"

#include <algorithm>

namespace navtalk {
namespace {

using Clock = DeviceForecast::Clock;
using std::chrono::microseconds;

// When each request begins: the lane that is free first takes the next one.
std::vector<Clock::time_point> begins(const std::vector<Clock::time_point>& requests,
                                      std::vector<Clock::time_point> free, microseconds picture) {
  std::vector<Clock::time_point> all;
  for (const Clock::time_point request : requests) {
    const auto lane = std::ranges::min_element(free);
    all.push_back(std::max(*lane, request));
    *lane = all.back() + picture;
  }
  return all;
}

bool holds_up(const DeviceForecast& device, microseconds picture, Clock::time_point without,
              Clock::time_point with, microseconds allowed) {
  std::vector<Clock::time_point> free{without};
  for (const DeviceForecast::Lane& lane : device.others) free.push_back(lane.free);
  const auto before = begins(device.requests, free, picture);
  free.front() = with;
  const auto after = begins(device.requests, free, picture);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (after[i] > before[i] + allowed) return true;
  }
  return false;
}

}  // namespace

std::size_t offline_room(const DeviceForecast& device, const BatchTimes& times, std::size_t live,
                         std::size_t size, Clock::time_point now, const OfflineLimits& limits) {
  const std::size_t most = size - std::min(size, live);
  if (!device.sessions && live == 0) return most;
  const auto picture = times.expected(1);
  if (!picture) return 0;
  const microseconds alone = live == 0 ? microseconds(0) : *times.expected(live);
  const bool spare =
      std::ranges::any_of(device.others, [](const auto& lane) { return !lane.offline; });
  for (std::size_t faces = most; faces > 0; --faces) {
    const microseconds whole = *times.expected(live + faces);
    if (live > 0 && whole > alone + limits.delay) continue;
    if (live == 0 && !spare && whole > limits.surprise) continue;
    if (!holds_up(device, *picture, now + alone, now + whole, limits.delay)) return faces;
  }
  return 0;
}

}  // namespace navtalk
