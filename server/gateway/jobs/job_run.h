// One job on one slot: its files go to the worker, its segments and its result come back, and every step of it
// is recorded under the job's lease. Of the I/O thread.
//
//   connect ── job.start, audio, segments ──► job.measured, job.progress, job.segment ... job.result
//                                                  │             └ recorded in the store, then job.recorded
//                                                  │ every frame is a heartbeat; none for too long: a failed try
//                                                  └ yield: the connection ends behind the next segment
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/files/partial_path.h"
#include "scheduler/health/worker_tokens.h"
#include "scheduler/jobs/job_store.h"
#include "scheduler/pool/session.h"
#include "server/gateway/jobs/job_files.h"
#include "server/gateway/jobs/run_files.h"
#include "server/gateway/jobs/run_record.h"
#include "server/gateway/session/slot_claim.h"
#include "server/http/blocking_threads.h"
#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

class JobRun {
 public:
  struct Parts {
    JobStore& store;
    const JobFiles& files;
    BlockingThreads& store_threads;
    BlockingThreads& file_threads;
    BlockingThreads& bucket_threads;  // wait for the bucket
    const WorkerTokens& tokens;
    Duration store_patience = std::chrono::seconds(25);  // less than a lease lasts
  };
  // What became of it on this slot; the store has it already.
  enum class End {
    over,     // done
    refused,  // failed: by the worker's word the input is at fault
    failed,   // a try, or the job, in which the worker had no part
    yielded,  // released again: it goes on later
    worker,   // this worker did not do it: another one may
    gateway,  // released again: this gateway's disk or store did not take what came
    lost,     // the lease is another's, or the job was cancelled
  };

  // `claim` has the slot's lease, and outlives it; `changed` is the claim's signal.
  JobRun(Parts parts, Job job, const SlotClaim& claim, Signal& changed);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  boost::asio::awaitable<End> run();
  // The heartbeat, every 5 s or so whatever run() waits for; until that is over.
  boost::asio::awaitable<void> renew(BlockingThreads& thread);
  // The slot is wanted: the job is to end behind its next segment, or then.
  void yield_by(Signal::Clock::time_point time);
  bool yields() const { return yield_by_.has_value(); }
  // At once: `why` is for the job's history.
  void stop(std::string why);

  const JobId& job() const { return job_.id; }
  const Lease& slot() const { return slot_; }
  // Of the whole job: 0..1.
  double progress() const { return progress_; }

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  Awaitable<End> work();
  Awaitable<std::unique_ptr<WebSocket>> connect();
  // False: the job is cut here, as cut() says.
  Awaitable<bool> send_job(WebSocket& worker, Frame& start, const std::vector<RunFile>& files);
  Awaitable<bool> send_file(WebSocket& worker, const RunFile& file);
  // nullopt: cut() says why.
  Awaitable<std::optional<Frame>> next_frame(WebSocket& worker);
  // The lease is lost, the slot is wanted, or the worker is gone or does not report.
  Awaitable<End> cut(WebSocket& worker);
  Awaitable<std::optional<End>> step(WebSocket& worker);
  Awaitable<std::optional<End>> on_frame(WebSocket& worker, const Frame& frame);
  Awaitable<std::optional<End>> on_segment(WebSocket& worker, const nlohmann::json& frame);
  Awaitable<End> on_result(WebSocket& worker, const nlohmann::json& frame);
  Awaitable<End> on_failed(const nlohmann::json& frame);
  // False: as next_frame().
  Awaitable<bool> receive_file(WebSocket& worker, std::uint64_t bytes, const PartialPath& into);
  // The worker did not do it. A try of the job, if the worker was told of it.
  Awaitable<End> give_back(std::string why);
  Awaitable<End> yield(std::string why);
  // With why_. Coroutines of their own, because g++ 12 destroys a temporary argument of one twice.
  Awaitable<End> record_failed_try();
  Awaitable<End> record_missing(RunFiles::Speech speech);
  Awaitable<End> record_refusal();
  Awaitable<End> wait_for_memory(std::string why);
  Awaitable<End> record_yield();
  Awaitable<End> record_own_fault();
  bool must_yield_now() const;

  const Parts parts_;
  const Job job_;
  const SlotClaim& claim_;
  const Lease slot_;
  Signal& changed_;
  const RunRecord record_;
  const RunFiles files_;
  std::optional<Signal::Clock::time_point> yield_by_{};
  std::string stop_{};
  std::string problem_{};   // with the worker
  std::string why_{};       // it ends here without a result
  bool begun_ = false;      // the worker was told of the job
  bool rendering_ = false;  // a frame about its progress came
  bool lost_ = false;       // the lease
  double progress_ = 0;
  Signal::Clock::time_point heard_{};
};

}  // namespace navtalk::server
