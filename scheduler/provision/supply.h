// Provisions GPUs: wakes a paused one, else creates one, local while local capacity is left, else in
// the cloud. In an outage of the cloud the other sources come first, and one new cloud GPU at a time
// shows whether others would answer. It only writes the intent; executors (executor/) carry it out.
// Quick, thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "scheduler/forecast/demand.h"
#include "scheduler/pool/identity.h"
#include "scheduler/pool/scaling_limits.h"
#include "scheduler/pool/schedule/timetable.h"
#include "scheduler/provision/hosts.h"

namespace navtalk {

struct SupplyOptions {
  PoolIdentity identity;
  std::string who;  // for events: "gateway host:pid"
  // The configured switch; off also where no cloud provider is configured. automatic: the scaler's
  // own switch in the store decides.
  CloudSwitch cloud = CloudSwitch::off;
  int cloud_slots = 1;
  std::function<double()> cloud_usd_per_hour{};  // what the next one is expected to cost
  int max_gpus = 0;                              // caps; 0: none
  double max_usd_per_hour = 0;
  // What was learned about the sources; none: nothing.
  std::function<Demand()> demand{};
  std::shared_ptr<const Timetable> timetable{};  // in place of max_gpus and spare_slots
  int spare_slots = 1;  // free slots, starting ones included, that are enough after a connect
};
// One, or MIN, but never more than the scaler would keep.
int spare_slots(const ScalingLimits& limits);

// What was begun.
struct Provisioning {
  Operation operation = Operation::none;  // wake, create; none: nothing
  GpuId gpu{};
  Source source = Source::local;
  std::string why{};  // none: what prevents it
};

class Supply {
 public:
  Supply(PoolStore& store, SupplyOptions options);

  // As many as waiters need: waiters minus slots that are free or will be.
  void ensure_for_waiters();
  // After a connect, or a GPU's failure: one more, unless enough slots are free or will be.
  void prepare_next();
  // A user was refused, and may ask again: one more, unless one is free or starting.
  void ensure_for_refused();
  // Jobs wait: one, unless a slot is free, lent to a job, or starting.
  void ensure_for_jobs();
  // One, whatever there is already, but not at a source in its backoff. With a `need`, here and
  // below: only if the store still sees it when the row is written.
  Provisioning provision(const PoolView& view, const std::string& why,
                         const std::optional<ForUsers>& need = {});
  // Creates one at that source, if the source can make one, at a price within the cap and no pause; else says
  // what is missing. `fence`: the scaler's; 0: nobody's.
  Provisioning create(const PoolView& view, Source source, const std::string& why,
                      const std::optional<ForUsers>& need = {}, std::uint64_t fence = 0);
  // Wakes that row. False: it is not paused any more, or the cap on spending forbids it.
  bool wake(const Gpu& gpu, const std::string& why, const std::optional<ForUsers>& need = {},
            std::uint64_t fence = 0);

 private:
  // The GPU that it woke; none: there is none that may be woken, of those sources.
  std::optional<Gpu> wake_one(const PoolView& view, const std::string& why,
                              const std::optional<ForUsers>& need, const Demand& learned,
                              bool cloud);
  Provisioning create_local(const PoolView& view, const std::string& why,
                            const std::optional<ForUsers>& need, std::uint64_t fence);
  std::optional<Gpu> add(Gpu gpu, const std::string& why, const std::optional<ForUsers>& need,
                         std::uint64_t fence);

  int max_gpus() const;
  int spare() const;
  bool in_maintenance(Origin origin, const std::string& host) const;

  PoolStore& store_;
  SupplyOptions options_;
};

// Paused GPUs of the shared pool that may be woken, in order: local, external, then the cheapest.
std::vector<Gpu> wakeable(const PoolView& view);
// Slots of the shared pool that are free, or will be when the starting GPUs are ready.
int coming_slots(const PoolView& view);

// Whether cloud GPUs may be created now: the switch that the scaler sets (cloud = auto), and a
// pause that an account's refusal (key, balance) imposes until a person has acted.
bool cloud_switched_on(PoolStore& store);
void switch_cloud(PoolStore& store, bool on);
struct CreationPause {
  TimePoint until{};
  std::string why{};
};
std::optional<CreationPause> creation_pause(PoolStore& store);
void pause_creation(PoolStore& store, Duration length, const std::string& why);

}  // namespace navtalk
