// The scaler's decision. Pure, O(GPUs log GPUs) at worst, thread-safe.
//
//   Snapshot ──wanted()──► Wanted: how many slots, at least and at most   (the law)
//            ──plan()────► Plan: which GPUs to wake, create, pause, destroy (the rules)
//
// The rules hold for every law: starting slots are supply; only idle GPUs of the shared pool are
// taken away, cloud first and the most expensive first; failed rows keep their place for a while;
// caps, back-off and start deadlines are kept. A pod past its age drains: it is supply no more, so
// another comes. Drained and without sessions a pod is destroyed, a local GPU paused, and it stays
// so until the drain is undone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/pool/scaling_limits.h"
#include "scheduler/provision/blocked_by.h"
#include "scheduler/scaling/snapshot.h"

namespace navtalk {

struct Action {
  enum class Kind : std::uint8_t {
    wake,
    create,
    pause,
    destroy,
    fail,          // its start took too long: Event::fail
    clear_failed,  // failed for longer than the hold: destroy
    probe,         // external and failed: ask its worker again
    drain,         // too old: no new sessions, so that it can be replaced
  };
  Kind kind = Kind::create;
  std::size_t index = 0;  // into Snapshot::gpus; for create without meaning
  GpuId gpu{};            // empty for create
  Source source = Source::local;
  std::string_view why{};  // a phrase for people, lives for ever

  friend bool operator==(const Action&, const Action&) = default;
};
std::string_view name(Action::Kind kind);

// Slots of the shared pool, counted once.
struct Census {
  int busy = 0;      // sessions
  int free = 0;      // on idle and running GPUs
  int starting = 0;  // coming
  int holding = 0;   // of failed GPUs that still keep their place
  int paused = 0;    // wakeable
  int local = 0;     // what local and external GPUs hold, with those that could be made there
  int gpus = 0;      // rows under the cap
  double usd_per_hour = 0;

  int supply() const { return busy + free + starting; }
  friend bool operator==(const Census&, const Census&) = default;
};
Census census(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now);

// How many slots there should be, and the figures that led there.
struct Wanted {
  int least = 0;                                  // below it GPUs are started: the target
  int most = 0;                                   // above it GPUs are taken away
  int forecast = 0;                               // adaptive: least by the forecast alone
  int floor = 0;                                  // adaptive: least by Erlang C
  double horizon_s = 0, mean = 0, deviation = 0;  // adaptive: see docs/scaling.md
  double foretold = 0;                            // adaptive: of the mean, by the hour's clock
  Outlook slowest{};                              // adaptive: for the slowest way to more slots
  Headroom::Learnt learnt{};                      // adaptive: the headroom used for it
  bool surge = false, held = false;               // why nothing is taken away

  friend bool operator==(const Wanted&, const Wanted&) = default;
};
Wanted wanted(const Snapshot& snapshot, const ScalingLimits& limits, const Census& census,
              TimePoint now);

struct Plan {
  std::vector<Action> actions{};
  Census census{};
  Wanted wanted{};
  std::optional<Wanted> shadow{};  // what the shadow law wants
  bool cloud = false;              // the cloud switch
  BlockedBy blocked_by = BlockedBy::none;
  int missing = 0;  // slots that could not be started, for that reason
  ScalerMemory memory{};

  int target() const { return wanted.least; }
  friend bool operator==(const Plan&, const Plan&) = default;
};

Plan decide(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now);
// The same into a plan that is there already: its memory is used again.
void decide(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now, Plan& plan);
// Only the rules, for a number that something else has chosen (the simulator's other policies).
void plan(const Snapshot& snapshot, const ScalingLimits& limits, const Wanted& wanted,
          TimePoint now, Plan& plan);

// For --dry-run and the log: one sentence a line, the target first, then every action.
std::vector<std::string> explain(const Plan& plan, const ScalingLimits& limits,
                                 const Demand& demand);
// "wake local-1; create runpod" for the decision's record; empty: nothing to do.
std::string summary(const Plan& plan);

}  // namespace navtalk
