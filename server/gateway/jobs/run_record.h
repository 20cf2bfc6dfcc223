// What the store hears of one run, under its job's lease. What is recorded twice counts once, so a store that does
// not answer is asked again for a while; after that StoreFault. Error with another code than failed for what the
// worker did. Of the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scheduler/jobs/job_store.h"
#include "server/http/blocking_threads.h"

namespace navtalk::server {

class RunRecord {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  // Both outlive it.
  RunRecord(JobStore& store, BlockingThreads& threads, JobLease lease, Duration patience);
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;

  // As JobStore. What they are given outlives the call.
  Awaitable<std::vector<JobSegment>> segments() const;
  Awaitable<bool> renew() const;
  Awaitable<bool> measure(VideoMinutes work) const;
  Awaitable<Recorded> finish_segment(const JobSegment& segment) const;
  Awaitable<Recorded> intend(const std::string& result) const;
  Awaitable<Recorded> finish(const std::string& result) const;
  Awaitable<Recorded> refuse(const std::string& why) const;
  Awaitable<Recorded> fail(const std::string& why) const;
  Awaitable<Recorded> yield(const std::string& why) const;
  // For the `time`-th time in a row: the job waits twice as long each time.
  Awaitable<Recorded> yield_for_later(const std::string& why, int time = 1) const;

 private:
  template <class Work>
  auto recorded(const Work& work) const -> Awaitable<decltype(work())>;

  JobStore& store_;
  BlockingThreads& threads_;
  const JobLease lease_;
  const Duration patience_;
};

}  // namespace navtalk::server
