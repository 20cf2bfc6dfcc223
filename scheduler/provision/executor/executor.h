// Carries out what rows ask for: takes an intent under a lease, calls the provider, records the
// outcome. Any number of executors may run on one store; each intent is held by one at a time.
//
//   wake     done: the row starts, the prober proves it        else: failed
//   create   done: provider id stored, the row starts          unknown: left for the reconciler
//   pause    done: paused                                      else: failed
//   destroy  done, and not found by its id: removed            else: retried until it works
//            an instance that the provider does not know: at a second try, and not within the
//            consistency window after its create
//            without an id: done when a complete list lacks its name
//
// Each provider has its own threads for each kind of call (call_lanes.h), and each call a deadline. A
// GPU whose true price breaks the cap on spending is recorded and destroyed again (../spending.h). An
// answer to a create that lacks the price is followed by a look-up.
//
// A crash leaves the row with its intent. The next executor takes it over when the lease is over, or
// at once when the owner is a dead process of this host. wake, pause and destroy are then called
// again; create never is.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/guarded.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/provision/executor/call_lanes.h"
#include "scheduler/provision/executor/provider_answers.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

struct ExecutorOptions {
  std::string owner;  // this_process()
  std::string host;   // rows that another host supervises are not ours
  // Local workers are created on these only; nullopt: on every device of the host.
  std::optional<std::vector<std::string>> devices{};
  Duration lease = std::chrono::seconds(45);
  // A created instance may be missing from the provider's answers for so long.
  Duration consistency_window = std::chrono::seconds(90);
  Duration account_pause = std::chrono::minutes(10);  // of creation, after a refusal of the account
  double max_usd_per_hour = 0;                        // the cap on spending; 0: none
  // Of the lanes of calls (call_lanes.h).
  std::size_t threads = CallLanesOptions{}.threads;
  Duration slow = CallLanesOptions{}.slow;
  std::array<Duration, 5> deadline = CallLanesOptions{}.deadline;
};

class Executor {
 public:
  // `after_failure` runs on the executor's threads when a create or wake failed.
  Executor(PoolStore& store, std::vector<Provider*> providers, ExecutorOptions options,
           std::function<void()> after_failure);
  // Hands every due intent to a thread, renews the leases of those under way, and attends to calls that
  // are slow or past their deadline. Call it every second or when something changed. True if something
  // was begun or is under way. `begin`: false: hands nothing to a thread.
  bool step(bool begin = true);
  // True once nothing is under way; false after that time, or when a stop is asked.
  bool wait_idle(Duration at_most, const std::stop_token& stop);
  // What the providers answered since the last call of this.
  AnswersBySource take_answers();

 private:
  void work(const Gpu& row, const std::stop_token& stop);
  void carry_out(const Gpu& found, const std::stop_token& stop);
  bool may_use(const Gpu& gpu) const;
  bool due(const Gpu& gpu, TimePoint now) const;
  std::optional<Gpu> take(const Gpu& gpu);
  void renew(const Gpu& gpu, TimePoint now);
  // `asked`: when the provider was called.
  void count(const Gpu& taken, const Outcome& outcome);
  void record(const Gpu& taken, const Outcome& outcome, TimePoint asked);
  void record_done(const Gpu& taken, const std::optional<Instance>& instance);
  void record_created(const Gpu& taken, const Instance& instance, TimePoint asked);
  void learn_price(const Gpu& created, Provider& provider, const std::stop_token& stop);
  bool amend_within_cap(const Gpu& taken, const GpuChange& change, const std::string& why);
  void report_unserved(const Gpu& gpu);
  void fail(const Gpu& taken, Attempt::Result result, const std::string& message,
            bool nothing_made = false);
  void record_attempt(const Gpu& taken, Attempt::Result result, const std::string& message);
  void release_intent(const Gpu& taken, const std::string& message);
  void destroy(const Gpu& taken, Provider& provider, const std::stop_token& stop);
  void remove_if_gone(const Gpu& taken, const Lookup& lookup);
  bool may_be_gone(const Gpu& taken) const;
  void remove(const Gpu& taken);
  std::optional<Gpu> amend(const Gpu& taken, GpuChange change, const std::string& why);
  Provider* provider_of(const Gpu& gpu) const;

  PoolStore& store_;
  std::map<Source, Provider*> providers_;
  ExecutorOptions options_;
  std::function<void()> after_failure_;
  std::map<GpuId, std::uint64_t> unserved_;  // intents without a provider that were reported
  Guarded<AnswersBySource> answers_{};
  std::mutex judging_prices_;  // one answer after the other: together they would all be too much
  CallLanes lanes_;  // last: its threads use the rest. Calls under way end; rows keep the intent
};

}  // namespace navtalk
