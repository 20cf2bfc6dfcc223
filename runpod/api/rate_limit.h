// Runpod's quota as its answers tell it: `RateLimit: "minute";r=0;t=12, "hour";r=2800;t=1812`,
// remaining calls and seconds to the reset of each window. The quota is per user, across keys, so
// others may use it up too. Pure; `now` is a monotonic clock's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk::runpod {

using Clock = std::chrono::steady_clock;

struct RateWindow {
  std::string name;
  long long remaining = 0;
  std::chrono::seconds reset{0};

  friend bool operator==(const RateWindow&, const RateWindow&) = default;
};

// Members that cannot be read are left out.
std::vector<RateWindow> parse_rate_limit(std::string_view header);
// The value of Retry-After in seconds; nullopt for a date or malformed text.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view header);

// Until when no call should be made.
class RateLimit {
 public:
  void read(std::string_view rate_limit_header, Clock::time_point now);
  void refused(std::chrono::milliseconds retry_after, Clock::time_point now);
  // Zero: go ahead. With several windows empty, the longest counts.
  std::chrono::milliseconds wait(Clock::time_point now) const;

 private:
  Clock::time_point until_{};
};

}  // namespace navtalk::runpod
