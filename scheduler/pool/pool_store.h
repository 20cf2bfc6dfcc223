// The pool's memory. Two implementations, one contract
// (tests/scheduler/store/pool_store_contract.h): SQLite (one host) and PostgreSQL (several
// gateways). A method is one transaction; methods may be called from any thread and any number of
// processes at once.
//
// Durability: what concerns a GPU row, the ledger or a setting is on disk when the method returns
// (it precedes a provider call); sessions and waiters may be lost in a crash of the machine and are
// made again. Errors: Error{failed} when the database cannot be reached or stays locked; nothing is
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

namespace navtalk {

// Who changed something, and why: the event row.
struct Cause {
  std::string who;  // "scaler", "gateway host:pid", "operator", "executor"
  std::string why;  // a phrase for people
};

// For users: only while fewer slots of the shared pool are free, or will be when what is starting
// has started, than users wait and `spare` more. The row is then reserved for the first waiter whom
// those slots do not reach, if there is one. It is decided in the transaction, so that gateways
// that saw the same queue bring no more together than one would.
struct ForUsers {
  int spare = 0;
};

struct NewGpu {
  Gpu gpu;           // state, version, epoch and times are the store's to set where 0
  int max_gpus = 0;  // 0: no cap. Counts every row that is neither dedicated nor external
  double max_usd_per_hour = 0;  // 0: no cap. Sum over rows not paused, this one's price included
  std::uint64_t fence = 0;      // of the scaler that adds it; 0: not a scaler
  std::optional<TimePoint> paid_since{};  // see GpuChange
  std::optional<ForUsers> for_users{};    // nullopt: whoever waits
};

// A compare-and-set change of one row. What is nullopt stays.
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
  // Where the ledger opens a span: the earliest time from which it may have cost money. nullopt:
  // now.
  std::optional<TimePoint> paid_since{};
  std::uint64_t fence = 0;
  double max_usd_per_hour = 0;          // of a wake; 0: no cap. As for NewGpu
  std::optional<ForUsers> for_users{};  // of a wake. As for NewGpu
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
  virtual std::optional<Gpu> find(const GpuId& id) = 0;
  // nullopt when a cap or the fence forbids it, a local device has its worker already, or as many
  // as `for_users` asks for are coming;
  // Error{invalid} when the id or name is taken, or an external worker's URL is another row's.
  virtual std::optional<Gpu> add(const NewGpu& gpu, const Cause& cause) = 0;
  // The row afterwards; nullopt when the version or the fence is stale, the row is gone, or a wake
  // would break a cap or is not needed (`for_users`). Error{failed} for an event that the state
  // machine does not allow.
  virtual std::optional<Gpu> change(const GpuChange& change, const Cause& cause) = 0;
  // Only from stopping or failed, or external, and without sessions. False when the version is
  // stale.
  virtual bool remove(const GpuId& id, std::uint64_t version, const Cause& cause) = 0;
  // The worker answered a probe, or did not answer it well: one more miss, and why, as the row's
  // last error unless it serves still. Not changes: no event, no new version. missed() gives the
  // row afterwards; nullopt when it is gone.
  virtual void seen(const GpuId& id, TimePoint at) = 0;
  virtual std::optional<Gpu> missed(const GpuId& id, TimePoint at, const std::string& why) = 0;

  // --- sessions and queue
  // A slot for the claimant, if one is free that nobody before it in the queue wants; takes it out
  // of the queue. Order: dedicated to its tenant, local, external, cloud; among equals the fullest.
  // Asking again with the same id while it holds a lease gives that lease.
  virtual std::optional<Lease> claim(const Claimant& claimant, Duration lease) = 0;
  // Into the queue, once per id; its position, or nullopt when `limit` waiters are in it.
  virtual std::optional<std::size_t> enqueue(const Claimant& claimant, std::size_t limit,
                                             Duration alive) = 0;
  virtual void leave(const WaiterId& waiter) = 0;
  // Signs of life for all that a gateway holds. A lease that ran out and was not ended yet (nobody
  // could reach the store) goes on, for its slot is nobody else's; a waiter's place may have been
  // passed by others, so it is not revived.
  virtual Renewal renew(const std::string& gateway, Duration alive) = 0;
  // Gives the slot back; false when it is no longer held under that epoch.
  virtual bool release(const LeaseId& lease, std::uint64_t epoch) = 0;
  // As release, for a session that never began (its worker could not be reached): neither its
  // arrival nor its end counts as demand, so asking again counts the user once.
  virtual bool unclaim(const LeaseId& lease, std::uint64_t epoch) = 0;
  // Ends what fell silent: leases (their slots are free) and waiters. See silence.h for when.
  virtual std::vector<Lease> expire() = 0;
  virtual std::vector<Lease> leases() = 0;
  // Blocks until the number of changes that a waiter may want to know (from any process) differs
  // from `seen`, the time is over or a stop is asked; the number now. So nothing is missed between
  // two calls: `for (n = 0;;) { n = wait_for_change(n, ...); look; }`. The number means nothing
  // outside this object; the first call with 0 returns at once. May return early.
  virtual std::uint64_t wait_for_change(std::uint64_t seen, Duration at_most,
                                        const std::stop_token& stop) = 0;

  // --- one scaler at a time
  // A fencing number, higher for every new holder; nullopt while another owner's lease holds.
  virtual std::optional<std::uint64_t> hold_scaler(const std::string& owner, Duration lease) = 0;
  virtual void yield_scaler(const std::string& owner) = 0;

  // --- memory: see history.h
  virtual std::vector<PoolEvent> events(const EventQuery& query) = 0;
  virtual std::vector<DemandBucket> demand(TimePoint since) = 0;
  virtual void record(const Attempt& attempt) = 0;
  virtual std::vector<Attempt> attempts(TimePoint since) = 0;
  virtual void record(const Promise& promise) = 0;
  virtual std::vector<Promise> promises(TimePoint since) = 0;
  virtual void record(const Decision& decision) = 0;
  virtual std::vector<Decision> decisions(TimePoint since) = 0;
  virtual std::vector<PaidSpan> ledger(TimePoint since) = 0;
  // Small lasting facts by name: the pool's id, the cloud switch, cool-downs.
  virtual std::optional<std::string> setting(std::string_view name) = 0;
  virtual void set_setting(std::string_view name, std::string_view value) = 0;
  // As set_setting, if the value is still `expected` (nullopt: not set); false otherwise.
  virtual bool swap_setting(std::string_view name, const std::optional<std::string>& expected,
                            std::string_view value) = 0;
  // Forgets events, demand, attempts, promises, decisions and closed spans from before `before`.
  virtual void forget(TimePoint before) = 0;
};

}  // namespace navtalk
