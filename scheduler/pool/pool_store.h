// The pool's store: rows, leases, queue, history. Two implementations, one contract
// (tests/scheduler/store/pool_store_contract.h): SQLite (one host) and PostgreSQL (several
// gateways). A method is one transaction; methods may be called from any thread and any number of
// processes at once.
//
// Durability: changes of a GPU row, the ledger or a setting are on disk when the method returns (a
// provider call follows them); sessions and waiters may be lost in a crash of the machine, and users
// come again. Errors: Error{failed} when the database cannot be reached or stays locked; nothing is
// half-done then.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/pool/history.h"
#include "scheduler/pool/session.h"
#include "scheduler/pool/usage.h"

namespace navtalk {

// Who changed something, and why: the event row.
struct Cause {
  std::string who;  // "scaler", "gateway host:pid", "operator", "executor"
  std::string why;  // a phrase for people
};

// A condition for adding or waking a GPU: the slots of the shared pool that are free, or will be once
// every starting GPU has started, are not enough for the waiters and `spare` more users
// (ComingSlots::enough). The row is then reserved
// for the first waiter whom those slots do not reach, if there is one. Checked in the transaction, so
// that gateways that saw the same queue start no more GPUs together than one would.
struct ForUsers {
  int spare = 0;
};

struct NewGpu {
  Gpu gpu;                      // state, version, epoch and times are the store's to set where 0
  int max_gpus = 0;             // 0: no cap. Counts rows that are neither dedicated nor external
  double max_usd_per_hour = 0;  // 0: no cap. Sum over rows not paused, this one's price included
  std::uint64_t fence = 0;      // of the scaler that adds it; 0: not a scaler
  std::optional<TimePoint> paid_since{};  // see GpuChange
  std::optional<ForUsers> for_users{};    // nullopt: without that condition
  bool if_new_name = false;               // a taken name is not an error: see PoolStore::add()
};

// A compare-and-set change of one row. Fields that are nullopt stay.
struct GpuChange {
  GpuId id;
  std::uint64_t version = 0;
  std::optional<Event> event{};
  std::optional<bool> draining{};
  std::optional<std::string> url{}, provider_id{}, device{}, last_error{}, host{};
  std::optional<int> slots{};
  std::optional<double> usd_per_hour{};
  std::optional<Intent> intent{};
  std::optional<WaiterId> reserved_for{};
  std::optional<std::uint64_t> operator_pause{};
  // If the ledger opens a span: the earliest time at which costs may have begun. nullopt: now.
  std::optional<TimePoint> paid_since{};
  std::uint64_t fence = 0;
  // Of a wake or a price; 0: no cap. As for NewGpu; but for the price of an instance that exists,
  // rows that are stopping do not count.
  double max_usd_per_hour = 0;
  std::optional<ForUsers> for_users{};  // of a wake. As for NewGpu
};

struct GoodAnswer {
  GpuId gpu;
  std::optional<GpuReading>
      reading{};  // its time is the answer's; nullopt: the row keeps what it has
};

struct Miss {
  GpuId gpu;
  std::string why;
};

struct PoolView {
  TimePoint now{};
  std::vector<Gpu> gpus;        // by created_at, then id
  std::vector<Waiter> waiters;  // in order of service, positions filled in
};

struct Renewal {
  std::vector<LeaseId> leases;    // still held
  std::vector<WaiterId> waiters;  // still queued
};

class PoolStore {
 public:
  virtual ~PoolStore() = default;

  // "sqlite:PATH" (made where it is missing, its folder too) or "postgresql://...". Applies
  // migrations under a lock; Error{invalid} for a store of a newer version, which stays untouched.
  static std::unique_ptr<PoolStore> open(const std::string& url);

  // The store's clock, the only one that decisions use. SQLite: the wall clock at its first use
  // since boot, carried on by the boot clock, so that a jump of the wall clock moves nothing.
  // PostgreSQL: the database's.
  virtual TimePoint now() = 0;

  // --- GPUs
  virtual PoolView view() = 0;
  // Those of the view alone.
  virtual std::vector<Waiter> waiters() = 0;
  virtual std::optional<Gpu> find(const GpuId& id) = 0;
  // nullopt when a cap or the fence forbids it, a local device has its worker already, or `for_users`
  // or `if_new_name` does not hold. Error{invalid} when the id or name is taken otherwise, or an
  // external worker's URL belongs to another row.
  virtual std::optional<Gpu> add(const NewGpu& gpu, const Cause& cause) = 0;
  // The row afterwards; nullopt when the version or the fence is stale, the row is gone, a wake or a
  // price would break a cap, or a wake is not needed (`for_users`). Error{failed} for an event that the state
  // machine does not allow.
  virtual std::optional<Gpu> change(const GpuChange& change, const Cause& cause) = 0;
  // Only from stopping or failed, or external, and without sessions. False when the version is
  // stale.
  virtual bool remove(const GpuId& id, std::uint64_t version, const Cause& cause) = 0;
  // The results of probes, many at once. seen(): good answers, which end a row's misses; a starting row
  // keeps the time at which it was last seen until it is ready (being_woken()), and takes the reading. missed(): one more miss
  // of each row; `why` becomes its last error unless it is serving. Neither is a change: no event, no
  // new version. missed() returns the rows afterwards, without those that are gone.
  virtual void seen(const std::vector<GoodAnswer>& answers, TimePoint at) = 0;
  virtual std::vector<Gpu> missed(const std::vector<Miss>& misses, TimePoint at) = 0;

  // --- sessions and queue
  // A slot for the claimant, if one is free that no waiter ahead of it can use, or if those ahead of it
  // refuse that GPU; removes it from the queue. Preference: dedicated to its tenant, local, external,
  // cloud; among equals the fullest; but one that missed its last probe or is in `claimant.avoid` only if
  // no other is at hand, and none of `claimant.refuse`. Never a silent GPU.
  // Claiming again with the same id while it holds a lease returns that lease.
  virtual std::optional<Lease> claim(const Claimant& claimant, Duration lease) = 0;
  // Appends to the queue, once per id; its position, or nullopt when the queue has `limit` waiters, or
  // `claimant.max_waiting` of the tenant.
  // One with `came_at` has a place already: before those of its tenant who came later.
  virtual std::optional<std::size_t> enqueue(const Claimant& claimant, std::size_t limit,
                                             Duration alive) = 0;
  virtual void leave(const WaiterId& waiter) = 0;
  // Renews all leases and waiters of a gateway. A lease that is past its time but was not expired yet
  // (nobody could reach the store) is renewed, because its slot is still its own; a waiter past its
  // time is not, because others may have passed it.
  virtual Renewal renew(const std::string& gateway, Duration alive) = 0;
  // Frees the slot; false when it is no longer held under that epoch.
  virtual bool release(const LeaseId& lease, std::uint64_t epoch) = 0;
  // As release, for a session that never began (its worker could not be reached): neither its
  // arrival nor its end counts as demand, so asking again counts the user once.
  virtual bool unclaim(const LeaseId& lease, std::uint64_t epoch) = 0;
  // Ends leases (their slots become free) and waiters that are past their time. See lease_expiry.h for
  // when to call it.
  virtual std::vector<Lease> expire() = 0;
  virtual std::vector<Lease> leases() = 0;
  // Blocks until the number of changes that matter to waiters (by any process) differs from `seen`,
  // the time is over or a stop is requested; returns the number. So no change is missed between two
  // calls: `for (n = 0;;) { n = wait_for_change(n, ...); read; }`. The number is valid for this
  // object only; the first call with 0 returns at once. May return early.
  virtual std::uint64_t wait_for_change(std::uint64_t seen, Duration at_most,
                                        const std::stop_token& stop) = 0;

  // --- one scaler at a time
  // A fencing number, higher for every new holder; nullopt while another owner's lease holds.
  virtual std::optional<std::uint64_t> hold_scaler(const std::string& owner, Duration lease) = 0;
  virtual void yield_scaler(const std::string& owner) = 0;

  // --- history: see history.h
  // Something that concerns no single GPU.
  virtual void record(const Cause& event) = 0;
  virtual std::vector<PoolEvent> events(const EventQuery& query) = 0;
  virtual std::vector<DemandBucket> demand(TimePoint since) = 0;
  virtual void record(const Attempt& attempt) = 0;
  virtual std::vector<Attempt> attempts(TimePoint since) = 0;
  virtual void record(const Promise& promise) = 0;
  virtual std::vector<Promise> promises(const PromiseQuery& query) = 0;
  // Of the promises made since then.
  virtual PromiseScore promise_score(TimePoint made_since) = 0;
  virtual void record(const Decision& decision) = 0;
  virtual std::vector<Decision> decisions(TimePoint since) = 0;
  virtual std::vector<PaidSpan> ledger(TimePoint since) = 0;
  // Small durable facts by name: see settings.h.
  virtual std::optional<std::string> setting(std::string_view name) = 0;
  virtual void set_setting(std::string_view name, std::string_view value) = 0;
  // As set_setting, if the value is still `expected` (nullopt: not set); false otherwise.
  virtual bool swap_setting(std::string_view name, const std::optional<std::string>& expected,
                            std::string_view value) = 0;
  // What ended sessions used from that day on (wall clock, UTC), by day, tenant and source.
  virtual std::vector<Usage> usage(std::chrono::sys_days since) = 0;
  // Deletes events, demand, attempts, promises and decisions from before `before`, closed spans and usage
  // from before `accounts_before`.
  virtual void forget(TimePoint before, TimePoint accounts_before) = 0;
};

}  // namespace navtalk
