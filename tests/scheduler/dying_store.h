// A store as a process has it that is killed: the first `writes` calls that change something reach
// the store, the next one throws Killed. What reached the store stays there for others.
#pragma once

#include "scheduler/pool/pool_store.h"

namespace navtalk::tests {

struct Killed {};

class DyingStore : public PoolStore {
 public:
  DyingStore(PoolStore& store, int writes) : store_(store), left_(writes) {}

  TimePoint now() override { return store_.now(); }
  PoolView view() override { return store_.view(); }
  std::vector<Waiter> waiters() override { return store_.waiters(); }
  std::optional<Gpu> find(const GpuId& id) override { return store_.find(id); }
  std::optional<Gpu> add(const NewGpu& gpu, const Cause& cause) override {
    return writing().add(gpu, cause);
  }
  std::optional<Gpu> change(const GpuChange& change, const Cause& cause) override {
    return writing().change(change, cause);
  }
  bool remove(const GpuId& id, std::uint64_t version, const Cause& cause) override {
    return writing().remove(id, version, cause);
  }
  void seen(const std::vector<GoodAnswer>& answers, TimePoint at) override {
    writing().seen(answers, at);
  }
  std::vector<Gpu> missed(const std::vector<Miss>& misses, TimePoint at) override {
    return writing().missed(misses, at);
  }
  std::optional<Lease> claim(const Claimant& claimant, Duration lease) override {
    return writing().claim(claimant, lease);
  }
  std::optional<std::size_t> enqueue(const Claimant& claimant, std::size_t limit,
                                     Duration alive) override {
    return writing().enqueue(claimant, limit, alive);
  }
  void leave(const WaiterId& waiter) override { writing().leave(waiter); }
  Renewal renew(const std::string& gateway, Duration alive) override {
    return writing().renew(gateway, alive);
  }
  bool release(const LeaseId& lease, std::uint64_t epoch) override {
    return writing().release(lease, epoch);
  }
  bool unclaim(const LeaseId& lease, std::uint64_t epoch) override {
    return writing().unclaim(lease, epoch);
  }
  std::vector<Lease> expire() override { return writing().expire(); }
  std::vector<Lease> leases() override { return store_.leases(); }
  std::uint64_t wait_for_change(std::uint64_t seen, Duration at_most,
                                const std::stop_token& stop) override {
    return store_.wait_for_change(seen, at_most, stop);
  }
  std::optional<std::uint64_t> hold_scaler(const std::string& owner, Duration lease) override {
    return writing().hold_scaler(owner, lease);
  }
  void yield_scaler(const std::string& owner) override { writing().yield_scaler(owner); }
  void record(const Cause& event) override { writing().record(event); }
  std::vector<PoolEvent> events(const EventQuery& query) override { return store_.events(query); }
  std::vector<DemandBucket> demand(TimePoint since) override { return store_.demand(since); }
  void record(const Attempt& attempt) override { writing().record(attempt); }
  std::vector<Attempt> attempts(TimePoint since) override { return store_.attempts(since); }
  void record(const Promise& promise) override { writing().record(promise); }
  std::vector<Promise> promises(const PromiseQuery& query) override {
    return store_.promises(query);
  }
  PromiseScore promise_score(TimePoint since) override { return store_.promise_score(since); }
  void record(const Decision& decision) override { writing().record(decision); }
  std::vector<Decision> decisions(TimePoint since) override { return store_.decisions(since); }
  std::vector<PaidSpan> ledger(TimePoint since) override { return store_.ledger(since); }
  std::optional<std::string> setting(std::string_view name) override {
    return store_.setting(name);
  }
  void set_setting(std::string_view name, std::string_view value) override {
    writing().set_setting(name, value);
  }
  bool swap_setting(std::string_view name, const std::optional<std::string>& expected,
                    std::string_view value) override {
    return writing().swap_setting(name, expected, value);
  }
  std::vector<Usage> usage(std::chrono::sys_days since) override { return store_.usage(since); }
  void forget(TimePoint before, TimePoint accounts_before) override {
    writing().forget(before, accounts_before);
  }

 protected:
  // The store, for a call that changes something.
  virtual PoolStore& writing() {
    if (left_ == 0) throw Killed();
    --left_;
    return store_;
  }

  PoolStore& store_;

 private:
  int left_;
};

}  // namespace navtalk::tests
