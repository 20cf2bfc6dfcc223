// When a worker may be started again after others on the same device crashed. Pure; not
// thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/time.h"

namespace navtalk::local {

inline constexpr Duration k_first_backoff = std::chrono::seconds(1);
inline constexpr Duration k_longest_backoff = std::chrono::seconds(60);
// A worker that ran for so long did not crash at its start; the count restarts.
inline constexpr Duration k_stable_run = std::chrono::seconds(60);
inline constexpr int k_loop = 3;  // crashes in a row that make a crash loop

class CrashHistory {
 public:
  struct Backoff {
    Duration left{};  // until the next start is allowed
    int crashes = 0;  // in a row
    std::string last{};
  };

  // A worker ended by itself.
  void crashed(const std::string& device, TimePoint started, TimePoint ended, std::string how);
  // After n crashes: 1 s, doubled each time, 60 s at most; nullopt when a start is allowed.
  std::optional<Backoff> backoff(const std::string& device, TimePoint now) const;

 private:
  struct Record {
    int crashes = 0;
    TimePoint last{};
    std::string how{};
  };
  std::map<std::string, Record> records_;
};

}  // namespace navtalk::local
