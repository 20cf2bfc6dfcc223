// Asks the workers for their health, and changes the rows by their answers:
//
//   starting           two good answers in a row, and a WebSocket gets through: ready
//   starting           refuses the token or the protocol, twice: failed
//   any of these       its URL may not be asked (worker_tokens.h): failed
//   idle, running      no good answer three times in a row and for the grace time: failed
//   starting, external the same: no provider starts it, so it is not about to come
//   failed             it may return (pool/faults/outage.h), and proves itself as a starting one: ready,
//                      unless it is blamed for its sessions (scheduler/pool/faults/session_verdict.h)
//
// When most GPUs of a source miss their probes at once, none of them fails (outage_rule.h).
//
// Two URLs may lead to one worker, which shows in the instance that it reports: the duplicate row
// does not become ready, or fails. A registered row is the duplicate of a local or cloud one, one
// that does not serve of one that does, then the younger of the older. A registered worker becomes
// ready only when every serving worker has answered since its own first answer: until then any of
// them may be the same worker, restarted.
//
// Misses are counted in the row, so that any process continues the count; the last answer of a
// starting worker is its row's last error. What a good answer says of the GPU is kept with it.
//
//   step() ─► AsyncHttpClient ─► answered() ─► results ─► the recorder: rows, many in a transaction
//             any number of        notes it                   │            ready, one after the other
//             questions at once ◄── the upgrade to a WebSocket ┘
//
// A worker that hangs, with its health or with a WebSocket, costs one of the questions at a time for
// the timeout, and delays no other verdict.
//
// If this process lacks descriptors or ports for a probe, the probe counts neither for nor against the
// worker. Nor does the time in which this process was late itself (core/net/async_http_client.h).
//
// Local workers listen on loopback, so each host asks its own; all others are asked by the process
// that holds the scaler's lease.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/log/error_throttle.h"
#include "core/net/async_http_client.h"
#include "scheduler/health/kept_view.h"
#include "scheduler/health/probe_records.h"
#include "scheduler/health/worker_client.h"
#include "scheduler/health/worker_tokens.h"
#include "scheduler/pool/faults/outage.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct ProberOptions {
  std::string who;  // this_process()
  std::string host;
  WorkerTokens tokens{};
  Duration starting_every = std::chrono::milliseconds(500);
  Duration running_every = std::chrono::seconds(5);
  Duration failed_every = std::chrono::seconds(10);  // registered GPUs; others as running ones
  Duration paused_every = std::chrono::seconds(10);  // local ones, so that they go on living
  Duration record_every = std::chrono::milliseconds(250);
  Duration look_every = std::chrono::seconds(1);  // at the rows, where nothing has changed
  Duration grace = std::chrono::seconds(15);
  std::chrono::milliseconds timeout{2'000};  // of a question: to connect and to answer
  std::size_t at_once = 2048;                // questions
};

class Prober {
 public:
  Prober(PoolStore& store, ProberOptions options);

  // Begins to probe every row that is due. `leading`: this process holds the scaler's lease.
  void step(bool leading);
  // True once no probe is under way and all answers are recorded; false after that time, or when a
  // stop is asked.
  bool wait_idle(Duration at_most, const std::stop_token& stop);
  // Has the failed GPU answered this process, or let its questions time out, lately and so often that it
  // would have returned? True for one that others ask.
  bool has_asked(const Gpu& gpu) const;

 private:
  using Clock = ProbeRecords::Clock;
  struct Verdict {
    std::string why{};      // empty: it is healthy
    bool asked = true;      // false: this process had no descriptor for the question
    bool refuses = false;   // another token or protocol: waiting does not help
    bool loads = false;     // reports that it is starting
    bool unusable = false;  // its URL may not be asked
    int slots = 0;
    std::string instance{};
    std::optional<GpuReading> reading{};
  };
  struct Result {
    Gpu gpu;  // as it was when it was asked
    Verdict verdict;
    int in_row = 0;         // good or bad answers
    bool upgraded = false;  // a WebSocket got through as well
  };

  bool due(const Gpu& gpu, bool leading, Clock::time_point now) const;  // under mutex_
  Duration period(const Gpu& gpu, const ProbeRecords::Record& record) const;
  bool due_for_contact(const Gpu& gpu, Clock::time_point now) const;  // under mutex_
  void ask(const Gpu& gpu);
  void speak_to(const Gpu& gpu);
  static Verdict judged(const Gpu& gpu, const HttpResult& result);
  void answered(const Gpu& gpu, Verdict verdict);
  void not_asked(const GpuId& id, const std::string& why);
  void ask_for_upgrade(const Gpu& gpu);
  void upgrade_answered(const Gpu& gpu, const std::optional<WorkerFault>& fault);
  void ended(const GpuId& id);
  // --- what answers change: verdicts.cpp
  void run_recorder(const std::stop_token& stop);
  std::vector<Result> take_results(const std::stop_token& stop);
  void record(const std::vector<Result>& results, std::set<GpuId>& proving);
  static bool hopeless(const Gpu& gpu, const Result& result);
  void record_misses(const std::vector<Result>& results);
  void fail_lost(const std::vector<Gpu>& rows);
  Duration grace_of(const Gpu& row) const;
  Outages watch(const PoolView& view, bool may_begin);
  void tell(const Outages& before, const Outages& after, const PoolView& view);
  void fail(const Gpu& row, const std::string& why);
  void make_ready(const std::vector<const Gpu*>& proven);
  bool make_ready(const Gpu& gpu);
  // --- one worker, several rows: duplicate_workers.cpp
  std::optional<std::string> why_duplicate(const Gpu& gpu) const;
  bool all_serving_answered(const Gpu& gpu, const PoolView& view) const;
  void refuse_duplicate(const Gpu& gpu, const std::string& why);

  PoolStore& store_;
  ProberOptions options_;
  KeptView rows_;             // of step()
  mutable std::mutex mutex_;  // of the next two
  ProbeRecords records_;
  std::vector<Result> results_;  // that are not recorded yet
  ErrorThrottleLog shortages_{"probes of workers"};
  std::condition_variable_any arrived_;  // results
  std::condition_variable_any idle_;
  AsyncHttpClient client_;  // its thread uses the rest
  std::jthread recorder_;   // uses all of it
};

}  // namespace navtalk
