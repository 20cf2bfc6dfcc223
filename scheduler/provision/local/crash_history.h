// When a worker may be started again after others on the same device crashed. Pure; not
// thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/time.h"

namespace navtalk::local {

inline constexpr Duration k_first_rest = std::chrono::seconds(1);
inline constexpr Duration k_longest_rest = std::chrono::seconds(60);
// A worker that ran so long was no crash at the start; the count begins anew.
inline constexpr Duration k_sound_run = std::chrono::seconds(60);
inline constexpr int k_loop = 3;  // crashes in a row that make a crash loop

class CrashHistory {
 public:
  struct Rest {
    Duration left{};  // until the next start is allowed
    int crashes = 0;  // in a row
    std::string last{};
  };

  // A worker ended that nobody asked to end.
  void crashed(const std::string& device, TimePoint started, TimePoint ended, std::string how);
  // Rest after n crashes: 1 s, doubled each time, 60 s at most; nullopt when a start is allowed.
  std::optional<Rest> rest(const std::string& device, TimePoint now) const;

 private:
  struct Record {
    int crashes = 0;
    TimePoint last{};
    std::string how{};
  };
  std::map<std::string, Record> records_;
};

}  // namespace navtalk::local
