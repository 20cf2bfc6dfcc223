// Everything that a decision of the scaler depends on, as plain values.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/forecast/demand.h"
#include "scheduler/forecast/headroom.h"
#include "scheduler/pool/faults/outage.h"
#include "scheduler/scaling/target_window.h"

namespace navtalk {

// What one tick hands to the next: Plan::memory goes into the next Snapshot, through the store
// where ticks are processes of their own.
struct ScalerMemory {
  bool cloud_on = false;
  int cloud_need_ticks = 0;     // in a row
  TimePoint cloud_needed_at{};  // the last tick that needed it
  TimePoint surge_until{};      // downs are frozen
  Headroom headroom{};          // adaptive: what was learned from users who came

  friend bool operator==(const ScalerMemory&, const ScalerMemory&) = default;
};
// One line for PoolStore::set_setting, without the headroom, which has one of its own; parse gives
// nullopt for text of another form.
std::string as_text(const ScalerMemory& memory);
std::optional<ScalerMemory> parse_scaler_memory(std::string_view text);

struct SourceState {
  bool available = false;         // a provider is configured
  int creatable = 0;              // GPUs that it could still make, beside existing rows
  int slots = 1;                  // of each of them that `next_slots` does not name
  double usd_per_hour = 0;        // what the next one is expected to cost
  std::vector<int> next_slots{};  // of the next GPUs, in the order in which they would be made

  int slots_at(int index) const;  // of the next one: 0
  int creatable_slots() const;    // of all that it could still make
};

struct Snapshot {
  std::vector<Gpu> gpus;  // the whole pool, dedicated ones too
  int queued = 0;         // waiters
  int offline = 0;        // slots that offline work wants beside those of users
  Demand demand{};
  std::array<SourceState, k_sources> sources{};  // by Source; external is never created
  // Recent targets of the acting policy, in any order; those older than the hold are passed over.
  std::span<const TimedTarget> recent{};
  ScalerMemory memory{};
  Outages outages{};
  // Failed GPUs that may return, and that nobody has asked for long enough to know.
  std::set<GpuId> unasked{};
  std::map<GpuId, std::string> places{};             // Provider::place(), where it is not empty
  std::optional<TimePoint> creation_paused_until{};  // an account's refusal: nothing is created
};

}  // namespace navtalk
