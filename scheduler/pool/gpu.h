// One row of the pool: a place that can run a worker. Plain values, as a store keeps them.
#pragma once

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

// In order of preference. The cloud's name in stores and in JSON is "runpod".
enum class Source : std::uint8_t { local = 0, external = 1, cloud = 2 };
std::string_view name(Source source);
std::optional<Source> parse_source(std::string_view text);

// What is to be done with a GPU by its provider, or is being done. Written before the provider is
// called (intent before action), cleared with its outcome in one transaction.
//
//   wanted ──taken by an executor──► owned ──about to call──► called ──outcome──► none
//             (owner, until)                 (called = true)
//
// An executor that dies leaves an operation whose `until` passes; the next one takes it over. A
// `create` that was `called` without an outcome is reconciled by name, never repeated blindly.
enum class Operation : std::uint8_t { none, create, wake, pause, destroy };
std::string_view name(Operation operation);

struct Intent {
  Operation operation = Operation::none;
  std::uint64_t number = 0;  // one higher for every intent of this GPU: an old executor's outcome
                             // does not fit any more
  std::string owner{};       // the executor that holds it; empty: free to take
  TimePoint until{};         // the owner's lease on it
  bool called = false;       // the provider may have been called
  TimePoint since{};         // when it was written
  int tries = 0;

  friend bool operator==(const Intent&, const Intent&) = default;
};

struct Gpu {
  GpuId id;
  std::string name{};  // navtalk-<pool>-<uuid>, unique, known to the provider
  Source source = Source::local;
  State state = State::starting;
  bool draining = false;    // keeps its sessions, takes no new ones
  TenantId dedicated_to{};  // not empty: out of all shared scheduling
  int slots = 1;
  int sessions = 0;           // open leases
  std::string host{};         // which host's `serve` supervises it; empty: anyone
  std::string device{};       // local: "cpu", "cuda:0"; cloud: the GPU type
  std::string url{};          // the worker's base URL; empty: not known yet
  std::string provider_id{};  // pod id, process id; empty: the provider has not answered yet
  double usd_per_hour = 0;
  TimePoint created_at{};
  TimePoint since{};         // when it came into this state
  TimePoint seen_at{};       // when its worker last answered a probe; zero: never
  int misses = 0;            // probes since then that it did not answer well
  TimePoint missed_since{};  // the first of them
  std::string last_error{};
  WaiterId reserved_for{};  // starting for this waiter: not surplus
  Intent intent{};
  std::uint64_t epoch = 0;    // grows with every claim; fences older leases at the worker
  std::uint64_t version = 0;  // compare-and-set

  int free_slots() const { return slots > sessions ? slots - sessions : 0; }
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// May a session of `tenant` be put on it now?
bool claimable(const Gpu& gpu, const TenantId& tenant);
// The row's next intent, free for any executor; and what stays of one that is settled.
Intent next_intent(const Gpu& gpu, Operation operation, TimePoint now);
Intent settled_intent(const Gpu& gpu);
// Is its start a wake? A worker of it had answered before this start.
bool being_woken(const Gpu& gpu);
// Was its create refused in so many words (see Executor::fail)? Such a row only says why, until it
// is cleared.
bool nothing_was_made(const Gpu& gpu);
// Does it belong to the shared pool (not dedicated, not draining)?
bool shared(const Gpu& gpu);
// Slots of the shared pool that are free on it, or will be when it has started.
int coming_slots(const Gpu& gpu);

}  // namespace navtalk
