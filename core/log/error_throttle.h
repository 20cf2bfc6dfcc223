// An error that repeats is reported at once, then once a minute with its count, and once more when
// it is over. Parts that fail for one reason (the database is away) share one throttle, and a text
// that one of them reported is not reported by the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/base/guarded.h"

namespace navtalk {

// Pure: decides what is to be reported.
class ErrorThrottle {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Notice {
    enum class Kind { fails, still_fails, works_again };
    Kind kind = Kind::fails;
    std::string parts{};      // "prober, scaler": that fail, or that failed
    std::string error{};      // the last one; of works_again none
    std::uint64_t times = 1;  // failures since the first one
    std::chrono::seconds lasted{};
  };

  // The error is over after so long without a failure: one that comes and goes is the same error.
  explicit ErrorThrottle(std::chrono::seconds quiet) : quiet_(quiet) {}
  std::optional<Notice> failed(const std::string& part, const std::string& error, Time now);
  std::optional<Notice> well(const std::string& part, Time now);

 private:
  Notice notice(Notice::Kind kind, const std::string& error, Time now) const;

  std::chrono::seconds quiet_;
  std::map<std::string, bool> parts_;  // that have failed, and whether each fails now
  std::set<std::string> told_;         // texts reported so far
  std::uint64_t times_ = 0;            // 0: nothing fails
  Time began_{}, last_{}, told_at_{};
};

// Reports to the log. Thread-safe.
class ErrorThrottleLog {
 public:
  // `what` begins each line: "the pool's loops".
  explicit ErrorThrottleLog(std::string what, std::chrono::seconds quiet = std::chrono::seconds(5));

  void failed(const std::string& part, const std::string& error);
  void well(const std::string& part);

 private:
  void tell(const std::optional<ErrorThrottle::Notice>& notice) const;

  std::string what_;
  Guarded<ErrorThrottle> throttle_;
};

}  // namespace navtalk
