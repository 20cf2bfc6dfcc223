// What the scaler knows about its users and its providers, learned from what happens: arrivals,
// lengths of sessions, lead times. The live scaler feeds it from the store (observe), the simulator
// event by event. O(1) amortised an event; not thread-safe, one owner.
#pragma once

#include <deque>
#include <span>

#include "scheduler/forecast/arrivals.h"
#include "scheduler/forecast/lead_times.h"
#include "scheduler/pool/history.h"

namespace navtalk {

// The demand at one moment. See Arrivals for the rates.
struct Demand {
  double fast_per_s = 0, slow_per_s = 0, rate_per_s = 0, day_per_s = 0;
  int last_minute = 0;     // arrivals of the last 60 s
  double session_s = 300;  // mean length of a session
  double dispersion = 1;
  MinutesAhead ahead{};
  double minute_left_s = 60;   // of the first of `ahead`
  bool history_ready = false;  // enough is known to remove a GPU
  LeadTimeBySource create{}, wake{};

  const LeadTime& create_at(Source source) const {
    return create[static_cast<std::size_t>(source)];
  }
  const LeadTime& wake_at(Source source) const { return wake[static_cast<std::size_t>(source)]; }
};

struct DemandOptions {
  Duration session = std::chrono::minutes(5);        // believed until sessions have ended
  Duration stable_window = std::chrono::minutes(5);  // after it nothing needs to be loaded
  // Median lead times that are believed until some were seen, by Source.
  LeadTimes::Medians create = {std::chrono::seconds(30), std::chrono::seconds(30),
                               std::chrono::seconds(90)};
  LeadTimes::Medians wake = {std::chrono::seconds(5), std::chrono::seconds(5),
                             std::chrono::seconds(60)};
};

class DemandEstimator {
 public:
  explicit DemandEstimator(TimePoint now, const DemandOptions& options = {});

  // Times do not go back; an event from before the last one counts as of the last one.
  void arrived(TimePoint at, std::int64_t count = 1) { arrivals_.add(at, count); }
  void ended(TimePoint at, std::int64_t count, double seconds);
  void attempted(const Attempt& attempt) { lead_times_.add(attempt); }

  // From the store: buckets of the last minutes (each as it stands now, growing ones again and
  // again). Counts each arrival once.
  void observe(std::span<const DemandBucket> buckets, TimePoint now);
  // At the start: the last 24 h. Afterwards history_ready.
  void load(std::span<const DemandBucket> buckets, std::span<const Attempt> attempts,
            TimePoint now);

  Demand demand(TimePoint now);

 private:
  void count_difference(const DemandBucket& counted, const DemandBucket& bucket, TimePoint at);
  double session_s() const;

  DemandOptions options_;
  TimePoint start_;
  bool loaded_ = false;
  Arrivals arrivals_;
  LeadTimes lead_times_;
  double ended_count_ = 0, ended_seconds_ = 0;
  std::deque<DemandBucket> seen_{};  // what observe() has counted of the newest buckets
};

}  // namespace navtalk
