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
#include <string_view>
#include <vector>

#include "scheduler/health/worker_tokens.h"
#include "scheduler/jobs/job_store.h"
#include "scheduler/pool/session.h"
#include "server/gateway/jobs/job_files.h"
#include "server/gateway/jobs/run_files.h"
#include "server/gateway/jobs/run_leave.h"
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
    // A worker that renders and has not reported for so long has missed a heartbeat.
    Duration heartbeat = std::chrono::seconds(5);
    // One that has not for so long does not do it: it tells of progress each second, also while it loads its model.
    Duration report_timeout = std::chrono::seconds(25);
  };
  // What became of it on this slot; the store has it already.
  enum class End : std::uint8_t {
    done,
    refused,    // failed: by the worker's word the input is at fault
    doubted,    // released again: the worker says so, and another one is to judge
    too_large,  // failed: no worker can be told of it
    no_speech,  // a try, in which the worker had no part: the speech is nowhere
    users,      // released again: a user waits for the slot
    tenants,    // released again: another tenant's job is next
    stopped,    // released again: the gateway stops, or the worker takes no more work
    slot_lost,  // released again: the slot is somebody else's
    bucket,  // released again: the bucket that may have its files does not answer, or lacks them yet
    gateway,  // released again: this gateway's disk or store did not take what came
    unreadable,  // released again, and each k_unreadable-th time a try: a file of it cannot be read here
    worker,  // this worker did not do it: another one may
    lost,    // the lease is another's, or the job was cancelled
  };

  // Of the runs of one job at this gateway that end with `unreadable`, each so many are a try.
  static constexpr int k_unreadable = 3;

  // How often the job has ended so at this gateway: `unreadable` since that last counted as a try, the other in a row.
  struct Earlier {
    int unreadable = 0, gateway = 0;
    bool ask_another = false;  // where this worker says that the input is at fault
  };

  // `claim` has the slot's lease, and outlives it; `changed` is the claim's signal.
  JobRun(Parts parts, Job job, const SlotClaim& claim, Signal& changed, Earlier earlier);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  boost::asio::awaitable<End> run();
  // Its heartbeat found that another has the job, or that it is over.
  void lose_lease() { leave_.lose_lease(); }
  // As RunLeave.
  void yield_by(Signal::Clock::time_point time) { leave_.yield_by(time); }
  bool yields() const { return leave_.yields(); }
  void stop(std::string why) { leave_.stop(std::move(why)); }
  void may_give_way(std::shared_ptr<std::size_t> places) { leave_.may_give_way(std::move(places)); }
  bool gave_way() const { return leave_.gave_way(); }
  // The worker renders, should have reported, and has not.
  bool missed_heartbeat() const;

  const JobId& job() const { return job_.id; }
  const TenantId& tenant() const { return job_.spec.tenant; }
  JobLease lease() const { return {.job = job_.id, .epoch = job_.epoch}; }
  const Lease& slot() const { return slot_; }
  // Of the whole job: 0..1.
  double progress() const { return progress_; }

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  Awaitable<End> work();
  // This gateway's disk or store did not take something; why_ says it to others.
  Awaitable<End> end_by_own_fault(std::string problem, bool unreadable);
  Awaitable<End> give_back_or_lose(std::string why);
  Awaitable<std::unique_ptr<WebSocket>> connect();
  // False: the job is cut here, as cut() says.
  Awaitable<bool> send_job(WebSocket& worker, Frame& start, const std::vector<RunFile>& files);
  Awaitable<bool> send_file(WebSocket& worker, const RunFile& file);
  // nullopt: cut() says why.
  Awaitable<std::optional<Frame>> next_frame(WebSocket& worker);
  // The run is due, or the worker is gone or does not report.
  Awaitable<End> cut(WebSocket& worker);
  Awaitable<End> leave();
  Awaitable<std::optional<End>> step(WebSocket& worker);
  Awaitable<std::optional<End>> on_frame(WebSocket& worker, const Frame& frame);
  // Behind a segment that was finished now.
  bool gives_way(VideoMinutes segment);
  Awaitable<std::optional<End>> on_segment(WebSocket& worker, const nlohmann::json& frame);
  Awaitable<End> on_result(WebSocket& worker, const nlohmann::json& frame);
  Awaitable<End> on_failed(const nlohmann::json& frame);
  // nullptr: as next_frame().
  Awaitable<std::unique_ptr<Incoming>> receive_file(WebSocket& worker, std::uint64_t bytes);
  Awaitable<bool> receive_into(WebSocket& worker, std::uint64_t bytes, Incoming& into);
  // The worker did not do it. A try of the job, if the worker was told of it.
  Awaitable<End> give_back(std::string why);
  Awaitable<End> yield(End end, std::string why);
  // With why_. Coroutines of their own, because g++ 12 destroys a temporary argument of one twice.
  Awaitable<End> record_failed_try();
  Awaitable<End> record_missing(RunFiles::Speech speech);
  Awaitable<End> record_refusal();
  Awaitable<End> record_doubt();
  Awaitable<End> wait_for_memory(std::string why);
  Awaitable<End> record_yield(End end);
  Awaitable<End> record_own_fault();
  Awaitable<End> record_unreadable();

  const Parts parts_;
  const Job job_;
  const Lease slot_;
  Signal& changed_;
  RunLeave leave_;
  const RunRecord record_;
  const RunFiles files_;
  std::string problem_{};   // with the worker
  std::string why_{};       // it ends here without a result
  bool begun_ = false;      // the worker was told of the job
  bool rendering_ = false;  // a frame about its progress came
  bool listens_ = false;    // the worker's next frame is waited for
  const Earlier earlier_;
  VideoMinutes work_, finished_;  // of the whole job
  double progress_ = 0;
  Signal::Clock::time_point heard_{};
};

std::string_view name(JobRun::End end);
// The job is released, and goes on later.
bool goes_on(JobRun::End end);
inline constexpr std::size_t k_job_ends = 14;

}  // namespace navtalk::server
