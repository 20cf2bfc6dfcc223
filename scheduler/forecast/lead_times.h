// How long each source takes to create and to wake a GPU, and how often that succeeds, learned from
// the attempts. O(1) amortised an attempt; not thread-safe, one owner.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "scheduler/pool/history.h"

namespace navtalk {

inline constexpr std::size_t k_sources = 3;

// From the intent to proven ready, of one operation at one source.
struct LeadTime {
  Duration p50{}, p90{};
  double success_rate = 1;     // of attempts, without those that found no capacity
  int samples = 0;             // successful attempts that were seen; 0: the prior alone
  int failures_in_row = 0;     // failed and timed out ones since the last success
  int no_capacity_in_row = 0;  // refusals for lack of capacity since the last success
  TimePoint last_failure{};    // of either kind
  friend bool operator==(const LeadTime&, const LeadTime&) = default;
};
using LeadTimeBySource = std::array<LeadTime, k_sources>;

class LeadTimes {
 public:
  using Medians = std::array<Duration, k_sources>;
  // The medians are believed until some attempts were seen; a prior p90 is 1.6 times its median.
  LeadTimes(const Medians& create, const Medians& wake);

  // Only creations and wakes count.
  void add(const Attempt& attempt);

  LeadTimeBySource create() const { return known(create_); }
  LeadTimeBySource wake() const { return known(wake_); }

 private:
  struct History {
    std::vector<double> seconds{};  // ring of the last successful ones
    std::size_t next = 0;
    double ok = 0, tried = 0;  // with a memory of about 50 attempts
    LeadTime lead{};
  };
  using Histories = std::array<History, k_sources>;
  static LeadTimeBySource known(const Histories& histories);
  static void succeed(History& history, Duration took);

  Histories create_{}, wake_{};
};

}  // namespace navtalk
