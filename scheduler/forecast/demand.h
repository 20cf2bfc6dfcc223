// What the scaler knows about its users and its providers, learnt as it happens. The live scaler
// feeds it from the store (observe), the simulator event by event; both ask the same questions.
// O(1) amortised an event; not thread-safe, one owner.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "scheduler/forecast/recurring.h"
#include "scheduler/pool/history.h"

namespace navtalk {

inline constexpr std::size_t k_sources = 3;
inline constexpr Duration k_fast_memory = std::chrono::minutes(2);  // of Demand::fast_per_s

// From the intent to proven ready, of one operation at one source.
struct LeadTime {
  Duration p50{}, p90{};
  double success_rate = 1;     // that an attempt succeeds
  int samples = 0;             // successful attempts that were seen; 0: the prior alone
  int failures_in_row = 0;     // failed and timed out ones since the last success
  int no_capacity_in_row = 0;  // refusals for want of capacity since the last success
  TimePoint last_failure{};    // of either kind
  friend bool operator==(const LeadTime&, const LeadTime&) = default;
};

// A picture of the demand at one moment.
struct Demand {
  double fast_per_s = 0;  // arrivals, EWMA of 2 min
  double slow_per_s = 0;  // arrivals, EWMA of 30 min
  // What to expect: slow, and twice the rush that fast shows beyond what was foretold.
  double rate_per_s = 0;
  double day_per_s = 0;    // arrivals, mean of the last 24 h
  int last_minute = 0;     // arrivals of the last 60 s
  double session_s = 300;  // mean length of a session
  double burstiness = 1;   // variance / mean of the arrivals per minute over 24 h, within 1 .. 8
  // As burstiness, but from the change between one minute and the next: what no rate foretells.
  double clumping = 1;
  // What the hour's clock foretells for the rest of this minute and for the next ones; for none
  // beyond these.
  std::array<Foretold, 16> ahead{};
  double minute_left_s = 60;
  bool history_ready = false;                        // enough is known to take something away
  std::array<LeadTime, k_sources> create{}, wake{};  // by Source

  const LeadTime& create_at(Source source) const {
    return create[static_cast<std::size_t>(source)];
  }
  const LeadTime& wake_at(Source source) const { return wake[static_cast<std::size_t>(source)]; }
};

struct DemandOptions {
  Duration fast = k_fast_memory, slow = std::chrono::minutes(30);
  Duration session = std::chrono::minutes(5);        // believed until sessions have ended
  Duration stable_window = std::chrono::minutes(5);  // after it nothing needs to be loaded
  // Lead times believed until some were seen, by Source; p90 is 1.6 times these.
  std::array<Duration, k_sources> create = {std::chrono::seconds(30), std::chrono::seconds(30),
                                            std::chrono::seconds(90)};
  std::array<Duration, k_sources> wake = {std::chrono::seconds(5), std::chrono::seconds(5),
                                          std::chrono::seconds(60)};
};

class DemandEstimator {
 public:
  explicit DemandEstimator(TimePoint now, const DemandOptions& options = {});

  // Times do not go back; an event from before the last one counts as of the last one.
  void arrived(TimePoint at, std::int64_t count = 1);
  void ended(TimePoint at, std::int64_t count, double seconds);
  void attempted(const Attempt& attempt);

  // From the store: buckets of the last minutes (each as it stands now, growing ones again and
  // again) and attempts that were not given before. Counts each arrival once.
  void observe(std::span<const DemandBucket> buckets, TimePoint now);
  // At the start: the last 24 h. Afterwards history_ready.
  void load(std::span<const DemandBucket> buckets, std::span<const Attempt> attempts,
            TimePoint now);

  Demand demand(TimePoint now);

 private:
  struct Leads {
    std::vector<double> seconds{};  // ring of the last successful ones
    std::size_t next = 0;
    double ok = 0, tried = 0;  // with a memory of about 50 attempts
    LeadTime learnt{};
  };
  void begin_at(TimePoint first);
  void advance(TimePoint now);
  void close_minute();
  void count_difference(const DemandBucket& counted, const DemandBucket& bucket, TimePoint at);
  double expected(double day_per_s) const;
  double burstiness() const;
  double clumping() const;
  MinuteRing ring() const;
  void foretell(Demand& demand) const;
  Leads& leads_of(Source source, Operation operation);
  static void remember(Leads& leads, Duration took);

  DemandOptions options_;
  TimePoint start_, begin_, now_;
  bool loaded_ = false;
  double fast_ = 0, slow_ = 0;
  double foretold_ = 0;  // the part of fast_ that the hour's clock foretold
  // Arrivals per minute over a day: a ring, the open one included; sums of the closed ones.
  std::vector<std::uint32_t> minutes_;
  std::size_t minute_ = 0, minutes_known_ = 0;
  TimePoint minute_ends_;
  double sum_ = 0, squares_ = 0, changes_ = 0;
  std::array<int, 10> recent_{};  // the last 60 s in tenths
  std::int64_t recent_slot_ = 0;
  double ended_count_ = 0, ended_seconds_ = 0;
  std::array<Leads, k_sources> create_{}, wake_{};
  std::deque<DemandBucket> seen_{};  // what observe() has counted of the newest buckets
};

}  // namespace navtalk
