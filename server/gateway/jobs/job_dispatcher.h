// Gives released jobs to slots that users leave free, and takes the slots back when users wait. Of the I/O
// thread, with the store's calls on threads of their own.
//
//   job released, slot free, nobody waits ──► lend the slot, claim the job ──► JobRun
//   a user waits ──► the newest runs yield, as many as users wait
//   job released, no slot free ──► runs of tenants that have more than their share give way at a segment's end
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/log/error_throttle.h"
#include "core/trace/trace_exporter.h"
#include "scheduler/jobs/job_store.h"
#include "scheduler/jobs/lanes/lent_slots.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/queue/allocator.h"
#include "scheduler/service/batch_lane.h"
#include "scheduler/store/late_workers.h"
#include "server/gateway/jobs/faults/doubted_jobs.h"
#include "server/gateway/jobs/faults/folder_watch.h"
#include "server/gateway/jobs/faults/unkept_jobs.h"
#include "server/gateway/jobs/faults/worker_rest.h"
#include "server/gateway/jobs/job_run.h"
#include "server/gateway/jobs/old_files.h"
#include "server/gateway/session/lease_keeper.h"
#include "server/gateway/session/slot_claim.h"

namespace navtalk::server {

struct JobCounters {
  std::uint64_t begun = 0;
  std::array<std::uint64_t, k_job_ends> ended{};  // by JobRun::End

  std::uint64_t& of(JobRun::End end) { return ended.at(static_cast<std::size_t>(end)); }
};

struct JobTimes {
  Duration renew_every = std::chrono::seconds(5);     // each lease
  Duration renewal_grace = std::chrono::seconds(15);  // half a lease; for others, after an outage
  // Between two looks for leases that have expired. A longer time than the longest is of a machine that was
  // suspended, or cannot keep up.
  Duration look_every = std::chrono::seconds(1), longest_round = std::chrono::seconds(5);
  Duration first_pause = std::chrono::seconds(1);  // of a gateway whose disk is full
  Duration yield_within = k_yield_within;          // while users wait
};

class JobDispatcher {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  struct Parts {
    PoolStore& pool;
    LateWorkers& late;
    Allocator& allocator;
    LeaseKeeper& keeper;
    TenantStore& tenants;
    BatchLane& lane;
    Duration keep{};    // jobs that are over; zero: for ever
    int keep_free = 0;  // slots that jobs leave to users
    ClaimOrder order;
    std::shared_ptr<TraceExporter> traces{};  // nullptr: jobs are not traced
    JobRun::Parts runs;
    BlockingThreads& renewals;  // one thread and no other calls, so that no queue delays a renewal
    BlockingThreads& folder_looks;  // likewise: a disk that hangs takes it alone
    JobTimes times{};
    PreemptionRules preemption{};
    std::size_t most_runs = 64;  // at once
  };
  // Parts outlive it.
  JobDispatcher(boost::asio::any_io_executor executor, Parts parts);
  ~JobDispatcher();
  JobDispatcher(const JobDispatcher&) = delete;
  JobDispatcher& operator=(const JobDispatcher&) = delete;

  // Until stop().
  Awaitable<void> run();
  // Something changed in the store.
  void note_change();
  // A job was submitted here.
  void note_submission();
  // That job was cancelled: its run ends, and its trace is told.
  Awaitable<void> cancel(const JobId& job);
  // Of a job that runs at this gateway.
  std::optional<double> progress(const JobId& job) const;
  bool draining() const { return draining_; }
  // Why this gateway can keep no job's files, with their folder's path; empty: it can. It begins no job meanwhile.
  const std::string& folder_problem() const { return folder_.problem(); }
  // All jobs go back to the queue; returns when the last slot is free.
  Awaitable<void> drain();

  std::size_t running() const { return runs_.size(); }
  const JobCounters& counters() const { return counters_; }

 private:
  struct Running;
  using Clock = Signal::Clock;

  Awaitable<void> round();
  // What is running nowhere.
  Awaitable<void> requeue();
  // The leases of the jobs, whatever their runs wait for; until the last one is over.
  Awaitable<void> keep_leases();
  // All at once, however long the store takes for a call.
  Awaitable<void> renew();
  Awaitable<void> take_turn();
  Awaitable<void> yield_to_users();
  bool may_begin() const;
  Awaitable<bool> has_claimable();
  // False: there was no job or no slot.
  Awaitable<bool> begin_one();
  // To other tenants.
  Awaitable<void> give_way();
  // Workers that get no job now.
  std::vector<GpuId> unfit();
  // The store knows which of them have missed a heartbeat.
  Awaitable<void> mark_late();
  Awaitable<void> tell_trace(const JobId& job);
  JobRun::Earlier earlier(const JobId& job) const;
  // Where that worker calls the job unfit. The store knows whether there is another one.
  Awaitable<bool> asks_another(JobId job, GpuId gpu);
  void count_own_faults(const JobId& job, JobRun::End end);
  void judge_worker(const JobRun& run, JobRun::End end);
  Awaitable<void> follow(std::shared_ptr<Running> running);

  const boost::asio::any_io_executor executor_;
  const Parts parts_;
  const std::string owner_;
  ErrorThrottleLog errors_{"the gateway's jobs"};
  Signal changed_, ended_;
  std::list<std::shared_ptr<Running>> runs_{};  // the newest last
  std::stop_source drained_{};                  // for calls of the bucket
  WorkerRest resting_{};
  DoubtedJobs doubted_{};
  FolderWatch folder_;
  OldFiles old_files_;
  UnkeptJobs unkept_;
  bool lacks_slot_ = false;  // a job could begin, and there was no slot, or no room here
  bool users_wait_ = false;
  std::map<JobId, int> unreadable_{};  // how often a job has ended so since its last try
  // As the store has it; nullopt: unknown, since a call failed.
  std::optional<std::vector<LeaseId>> late_{std::vector<LeaseId>{}};
  JobCounters counters_{};
  // Since when every call of the store has succeeded, and every round was made in time.
  Clock::time_point reached_ = Clock::now();
  std::optional<TimePoint>
      looked_{};  // by the store's clock, which goes on while a machine is suspended
  Clock::time_point requeued_{}, turned_{};
  bool draining_ = false, stopped_ = false;
};

}  // namespace navtalk::server
