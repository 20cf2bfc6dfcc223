// One job on one slot: its files go to the worker, its segments and its result come back, and every step of it
// is recorded under the job's lease. Of the I/O thread.
//
//   connect ── job.start, audio, segments ──► job.measured, job.progress, job.segment ... job.result
//                                                  │ every frame is a heartbeat; none for too long: a failed try
//                                                  └ yield: the connection ends behind the next segment
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "scheduler/health/worker_tokens.h"
#include "scheduler/jobs/job_store.h"
#include "scheduler/pool/session.h"
#include "server/gateway/jobs/job_files.h"
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
    const WorkerTokens& tokens;
  };
  // What became of it on this slot; the store has it already.
  enum class End {
    over,     // done, or failed
    yielded,  // released again: it goes on later
    worker,   // this worker did not do it: another one may
    lost,     // the lease is another's, or the job was cancelled
  };

  // `changed` is notified when yield_by() or stop() was called.
  JobRun(Parts parts, Job job, Lease slot, Signal& changed);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  boost::asio::awaitable<End> run();
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
  Awaitable<bool> send_job(WebSocket& worker);
  Awaitable<bool> send_file(WebSocket& worker, const std::filesystem::path& file);
  Awaitable<std::optional<End>> step(WebSocket& worker);
  Awaitable<std::optional<End>> on_frame(WebSocket& worker, const Frame& frame);
  Awaitable<std::optional<End>> on_segment(WebSocket& worker, const nlohmann::json& frame);
  Awaitable<End> on_result(WebSocket& worker, const nlohmann::json& frame);
  Awaitable<End> on_failed(const nlohmann::json& frame);
  // Into a file that appears whole; false: the worker is gone. `before`: runs when it is whole, and may throw.
  Awaitable<bool> receive_file(WebSocket& worker, std::uint64_t bytes,
                               const std::filesystem::path& file,
                               const std::function<void()>& before);
  Awaitable<bool> renew_if_due();
  // The worker did not do it. Counts as a try of the job, unless that made progress.
  Awaitable<End> give_back(std::string why);
  Awaitable<End> yield(std::string why);
  // With why_. Coroutines of their own, because g++ 12 destroys a temporary argument of one twice.
  Awaitable<End> record_failed_try();
  Awaitable<End> record_yield();
  bool must_yield_now() const;

  const Parts parts_;
  const Job job_;
  const JobLease lease_;
  const Lease slot_;
  Signal& changed_;
  std::optional<Signal::Clock::time_point> yield_by_{};
  std::string stop_{};
  std::string problem_{};  // with the worker
  std::string why_{};      // it ends here without a result
  bool segment_made_ = false;
  bool rendering_ = false;  // a frame about its progress came
  double progress_ = 0;
  Signal::Clock::time_point heard_{}, renewed_{};
};

}  // namespace navtalk::server
