// An error that comes again and again, told as one story: at once, then every minute how often, and
// at its end that it is over. Parts that fail for one reason (the database is away) share one, and
// a text that one of them told is not told by the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/base/guarded.h"

namespace navtalk {

// Pure: what is to be told.
class Outage {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Notice {
    enum class Kind { fails, still_fails, works_again };
    Kind kind = Kind::fails;
    std::string parts{};      // "prober, scaler": that fail, or that failed
    std::string error{};      // the last one; of works_again none
    std::uint64_t times = 1;  // failures since the outage began
    std::chrono::seconds lasted{};
  };

  // Quiet for so long before it counts as over: an error that comes and goes is one outage.
  explicit Outage(std::chrono::seconds quiet) : quiet_(quiet) {}
  std::optional<Notice> failed(const std::string& part, const std::string& error, Time now);
  std::optional<Notice> well(const std::string& part, Time now);

 private:
  Notice notice(Notice::Kind kind, const std::string& error, Time now) const;

  std::chrono::seconds quiet_;
  std::map<std::string, bool> parts_;  // of this outage, and whether each fails now
  std::set<std::string> told_;         // its texts
  std::uint64_t times_ = 0;            // 0: there is none
  Time began_{}, last_{}, told_at_{};
};

// Tells it in the log. Thread-safe.
class OutageLog {
 public:
  // `what` begins each line: "the pool's loops".
  explicit OutageLog(std::string what, std::chrono::seconds quiet = std::chrono::seconds(5));

  void failed(const std::string& part, const std::string& error);
  void well(const std::string& part);

 private:
  void tell(const std::optional<Outage::Notice>& notice) const;

  std::string what_;
  Guarded<Outage> outage_;
};

}  // namespace navtalk
