// One row of the pool: a GPU, or a CPU, that can run one worker. Plain values, as a store keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/id.h"
#include "core/base/time.h"
#include "scheduler/pool/state.h"

namespace navtalk {

using GpuId = Id<struct GpuTag>;
using LeaseId = Id<struct LeaseTag>;
using WaiterId = Id<struct WaiterTag>;
using TenantId = Id<struct TenantTag>;

// In order of preference. Which cloud, scheduler/pool/origin.h tells.
enum class Source : std::uint8_t { local = 0, external = 1, cloud = 2 };
std::string_view name(Source source);

// The operation that a GPU's provider is to do, or is doing. Written before the provider is called
// (intent before action), cleared together with the outcome in one transaction.
//
//   requested ──taken by an executor──► owned ──about to call──► called ──outcome──► none
//                (owner, until)                 (called = true)
//
// An executor that dies leaves an intent whose `until` passes; the next one takes it over. A `create`
// that was `called` and has no outcome is reconciled by name, never repeated blindly.
enum class Operation : std::uint8_t { none, create, wake, pause, destroy };
std::string_view name(Operation operation);

struct Intent {
  Operation operation = Operation::none;
  std::uint64_t number = 0;  // grows with every intent of this GPU, and fences old executors
  std::string owner{};       // the executor that holds it; empty: free to take
  TimePoint until{};         // the owner's lease on it
  bool called = false;       // the provider may have been called
  TimePoint since{};         // when it was written
  int tries = 0;

  friend bool operator==(const Intent&, const Intent&) = default;
};

// What a worker said of its GPU when it answered a probe. On a CPU it says nothing.
struct GpuReading {
  std::uint64_t memory_used = 0, memory_total = 0;  // bytes
  std::optional<int> load_percent{};                // 0 to 100; nullopt: the driver does not tell
  std::optional<int> temperature_c{};               // likewise
  TimePoint at{};  // when it answered; zero: it never said anything

  friend bool operator==(const GpuReading&, const GpuReading&) = default;
};

struct Gpu {
  GpuId id;
  std::string name{};  // navtalk-<pool>-<uuid>, unique, known to the provider
  Source source = Source::local;
  State state = State::starting;
  bool draining = false;    // keeps its sessions, takes no new ones
  TenantId dedicated_to{};  // not empty: not part of the shared pool
  int slots = 1;
  int sessions = 0;           // open leases, of both lanes
  int lent = 0;               // of them those of the batch lane, which ends them when users wait
  std::string host{};         // which host's `serve` supervises it; empty: anyone
  std::string device{};       // local: "cpu", "cuda:0"; cloud: the GPU type
  std::string url{};          // the worker's base URL; empty: not known yet
  std::string provider_id{};  // pod id, process id; empty: the provider has not answered yet
  double usd_per_hour = 0;
  TimePoint created_at{};
  TimePoint since{};         // when it entered this state
  TimePoint seen_at{};       // when its worker last answered a probe; zero: never
  int misses = 0;            // probes since then without a good answer; 0 when it is woken or ready
  TimePoint missed_since{};  // the first of them
  std::string last_error{};
  GpuReading reading{};     // the last one; see current_reading()
  WaiterId reserved_for{};  // starting for this waiter: not surplus
  Intent intent{};
  // The number of the intent with which an operator paused it; 0: none did. See kept_paused().
  std::uint64_t operator_pause = 0;
  std::uint64_t epoch = 0;    // grows with every claim; fences older leases at the worker
  std::uint64_t version = 0;  // compare-and-set

  // Does its worker take or hold sessions?
  bool serving() const { return state == State::idle || state == State::running; }
  int free_slots() const { return slots > sessions ? slots - sessions : 0; }
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// So many probes in a row without a good answer, and no new session is put on a GPU.
inline constexpr int k_silent_misses = 3;
// Does it serve, but has not answered for so many probes?
bool silent(const Gpu& gpu);
// A reading shows its GPU as it is now for so long: six times the pause between the probes of one in use.
inline constexpr Duration k_reading_lasts = std::chrono::seconds(30);
// nullopt if none is known that still holds: while the GPU does not serve or is silent, and always on a CPU.
std::optional<GpuReading> current_reading(const Gpu& gpu, TimePoint now);
std::optional<double> load_ratio(const GpuReading& reading);  // 0 to 1
// May a session of `tenant` be put on it now?
bool claimable(const Gpu& gpu, const TenantId& tenant);
// The row's next intent, free for any executor; and its intent once that has its outcome: nothing to
// do, under the same number.
Intent next_intent(const Gpu& gpu, Operation operation, TimePoint now);
Intent cleared_intent(const Gpu& gpu);
// Is it starting because it was woken? Its worker had answered before this start.
bool being_woken(const Gpu& gpu);
// Did the provider refuse to create it (see Executor::fail)? Such a row only records the reason, until
// it is removed.
bool nothing_was_made(const Gpu& gpu);
// Did an operator pause it, and has nobody paused or woken it since? The scaler then keeps it,
// whatever its disk costs; what the scaler paused itself it may also destroy.
bool kept_paused(const Gpu& gpu);
// Does it belong to the shared pool (not dedicated, not draining)?
bool shared(const Gpu& gpu);
// Slots of the shared pool that are free on it, or will be when it has started, or when users wait for
// those that are lent. Of a silent one none.
int coming_slots(const Gpu& gpu);
// Slots of the shared pool that will be free on a silent GPU once it answers.
int silent_slots(const Gpu& gpu);

// Slots of the shared pool beside those who want them.
struct ComingSlots {
  int slots = 0;   // coming_slots()
  int silent = 0;  // silent_slots()

  void add(const Gpu& gpu);
  // Are there slots for all waiters, and for `spare` more users? A silent GPU serves no waiter, but it
  // is not replaced in advance either: it is about to answer, or to fail.
  bool enough(std::size_t waiters, int spare) const;
};

}  // namespace navtalk
