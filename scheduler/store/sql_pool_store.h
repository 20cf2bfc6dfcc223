// PoolStore in SQL that SQLite and PostgreSQL both accept. The backend does what differs:
// connections, locks, clock, notifications. Writers run one at a time in the whole pool, so that a
// method may read, decide and write without conflicts. Thread-safe.
#pragma once

#include <memory>

#include "scheduler/pool/pool_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

class SqlPoolStore : public PoolStore {
 public:
  explicit SqlPoolStore(std::shared_ptr<StoreBackend> backend);

  TimePoint now() override;
  PoolView view() override;
  std::vector<Waiter> waiters() override;
  std::optional<Gpu> find(const GpuId& id) override;
  std::optional<Gpu> add(const NewGpu& gpu, const Cause& cause) override;
  std::optional<Gpu> change(const GpuChange& change, const Cause& cause) override;
  bool remove(const GpuId& id, std::uint64_t version, const Cause& cause) override;
  void seen(const std::vector<GoodAnswer>& answers, TimePoint at) override;
  std::vector<Gpu> missed(const std::vector<Miss>& misses, TimePoint at) override;

  std::optional<Lease> claim(const Claimant& claimant, Duration lease) override;
  std::optional<std::size_t> enqueue(const Claimant& claimant, std::size_t limit,
                                     Duration alive) override;
  void leave(const WaiterId& waiter) override;
  Renewal renew(const std::string& gateway, Duration alive) override;
  bool release(const LeaseId& lease, std::uint64_t epoch) override;
  bool unclaim(const LeaseId& lease, std::uint64_t epoch) override;
  std::vector<Lease> expire() override;
  std::vector<Lease> leases() override;
  std::uint64_t wait_for_change(std::uint64_t seen, Duration at_most,
                                const std::stop_token& stop) override;

  std::optional<std::uint64_t> hold_scaler(const std::string& owner, Duration lease) override;
  void yield_scaler(const std::string& owner) override;

  void record(const Cause& event) override;
  std::vector<PoolEvent> events(const EventQuery& query) override;
  std::vector<DemandBucket> demand(TimePoint since) override;
  void record(const Attempt& attempt) override;
  std::vector<Attempt> attempts(TimePoint since) override;
  void record(const Promise& promise) override;
  std::vector<Promise> promises(const PromiseQuery& query) override;
  PromiseScore promise_score(TimePoint made_since) override;
  void record(const Decision& decision) override;
  std::vector<Decision> decisions(TimePoint since) override;
  std::vector<PaidSpan> ledger(TimePoint since) override;
  std::optional<std::string> setting(std::string_view name) override;
  void set_setting(std::string_view name, std::string_view value) override;
  bool swap_setting(std::string_view name, const std::optional<std::string>& expected,
                    std::string_view value) override;
  std::vector<Usage> usage(std::chrono::sys_days since) override;
  void forget(TimePoint before, TimePoint accounts_before) override;

 private:
  std::shared_ptr<StoreBackend> backend_;
};

}  // namespace navtalk
