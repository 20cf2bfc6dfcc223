// What the pool remembers: events for people, and what the scaler learns from.
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

// Arrivals and ended sessions of ten seconds. Kept by claim, enqueue and release themselves.
inline constexpr std::chrono::seconds k_demand_bucket{10};
struct DemandBucket {
  TimePoint start{};
  std::int64_t arrivals = 0;  // users who came, whether they got a slot or not
  std::int64_t ended = 0;     // sessions
  double ended_seconds = 0;   // their durations, summed

  friend bool operator==(const DemandBucket&, const DemandBucket&) = default;
};

// One provider operation from intent to outcome; for create and wake until proven ready. The lead
// times and success rates per source are learnt from these.
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

// An ETA that a waiter was shown, and what came of it.
struct Promise {
  WaiterId waiter{};
  TimePoint made_at{};
  Duration promised{};  // from made_at, at the 90th percentile
  // Until the claim; of one who left unserved after the promised time, until then. Missing: left
  // before, or still waiting.
  std::optional<Duration> actual{};
};

// One decision of the scaler; shadow: computed and recorded, not acted on.
struct Decision {
  TimePoint at{};
  std::string policy{};
  bool shadow = false;
  int target = 0;  // slots wanted in all
  int supply = 0;  // slots there, starting ones included
  int busy = 0;
  int queued = 0;
  bool cloud = false;     // the cloud switch
  std::string actions{};  // "wake local-1; create runpod", empty: none
};

// Time that a cloud GPU was paid for. Kept by the store itself within add, change and remove: a row
// of a cloud source is paid for while its provider_id and a price above 0 are known and it is not
// paused; failed and stopping ones are, until they are paused or removed. A change of price or of
// the provider's id closes one span and opens the next. A span begins when the create was called,
// not when its answer was recorded, so that nothing is paid for and not in the ledger. Times are
// the store's clock.
struct PaidSpan {
  GpuId gpu{};
  std::string provider_id{};
  double usd_per_hour = 0;
  TimePoint from{};
  std::optional<TimePoint> to{};
};

}  // namespace navtalk
