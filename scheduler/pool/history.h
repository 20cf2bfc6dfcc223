// The pool's history: events for people, and what the scaler learns from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/pool/gpu.h"

namespace navtalk {

struct PoolEvent {
  std::int64_t number = 0;  // grows; --follow asks for those above the last one seen
  TimePoint at{};           // wall clock
  GpuId gpu{};
  std::string who{}, why{};
  std::optional<State> from{},
      to{};  // both set: a change of state; to missing: the row was removed
};

struct EventQuery {
  std::optional<TimePoint> since{};  // wall clock
  std::int64_t after = 0;            // number
  std::optional<GpuId> gpu{};
  std::size_t limit = 1000;  // the newest ones
};

// Arrivals and ended sessions of ten seconds. claim, enqueue and release count them.
inline constexpr std::chrono::seconds k_demand_bucket{10};
struct DemandBucket {
  TimePoint start{};
  std::int64_t arrivals = 0;  // users who came, whether they got a slot or not
  std::int64_t ended = 0;     // sessions
  double ended_seconds = 0;   // their durations, summed

  friend bool operator==(const DemandBucket&, const DemandBucket&) = default;
};

// One provider operation from intent to outcome; for create and wake until proven ready. The scaler
// learns lead times and success rates of each source from these.
struct Attempt {
  enum class Result : std::uint8_t { ok, no_capacity, refused, failed, timed_out };
  TimePoint at{};
  GpuId gpu{};
  Source source = Source::local;
  Operation operation = Operation::create;
  Result result = Result::ok;
  Duration took{};
  std::string detail{};  // candidate, error
};
std::string_view name(Attempt::Result result);

// An ETA that a waiter was shown, and how long it really waited.
struct Promise {
  WaiterId waiter{};
  TimePoint made_at{};
  Duration promised{};  // from made_at, at the 90th percentile
  // Until the claim; of a waiter who left unserved after the promised time, until then. Missing: the
  // waiter left earlier, or still waits.
  std::optional<Duration> actual{};
};

// In the order in which they were made; with `known_after` those whose outcome became known after it,
// in the order in which it did. A transaction is later than all before it, so who asks for those
// after the last outcome seen misses none and sees none twice.
struct PromiseQuery {
  TimePoint made_since{};
  std::optional<TimePoint> known_after{};
};

// Of promises whose outcome is known.
struct PromiseScore {
  std::int64_t scored = 0, kept = 0;
  Duration error{};  // distances between promise and wait, summed
};

// One decision of the scaler; shadow: computed and recorded, not acted on.
struct Decision {
  TimePoint at{};
  std::string policy{};
  bool shadow = false;
  int target = 0;  // slots wanted in all
  int supply = 0;  // existing slots, starting ones included
  int busy = 0;
  int queued = 0;
  bool cloud = false;     // the cloud switch
  std::string actions{};  // "wake local-1; create runpod", empty: none
};

// A span of time in which a cloud GPU cost money. add, change and remove keep the ledger: a cloud row
// costs money while its provider_id and a price above 0 are known and it is not paused; failed and
// stopping rows do, until they are paused or removed. A change of the price or of the provider's id
// closes one span and opens the next. A span begins when the create was called, not when its answer
// was recorded, so that the ledger misses nothing that was paid for. Times are the store's clock.
struct PaidSpan {
  GpuId gpu{};
  std::string provider_id{};
  double usd_per_hour = 0;
  TimePoint from{};
  std::optional<TimePoint> to{};
};

}  // namespace navtalk
