// What becomes of jobs' files beside the runs: those that are too old are removed with their jobs, and with a bucket, what it
// did not take yet goes there. Every few seconds, beside everything else, since disk and bucket may be slow. Of the I/O thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "core/base/time.h"
#include "scheduler/jobs/job_store.h"
#include "server/gateway/jobs/job_files.h"
#include "server/http/blocking_threads.h"
#include "server/http/signal.h"

namespace navtalk::server {

class OldFiles {
 public:
  struct Parts {
    JobStore& store;
    const JobFiles& files;
    BlockingThreads& threads;  // wait for the bucket
    Duration keep{};           // jobs that are over; zero: for ever
    std::stop_token stop{};    // no call of the bucket goes on after this
  };
  // Parts outlive it.
  OldFiles(boost::asio::any_io_executor executor, Parts parts)
      : executor_(executor), parts_(std::move(parts)) {}
  OldFiles(const OldFiles&) = delete;
  OldFiles& operator=(const OldFiles&) = delete;

  // Begins a look where that is due, and none is under way.
  void look_if_due();

 private:
  using Clock = Signal::Clock;
  boost::asio::awaitable<void> look();
  void sweep();
  void forget_old();
  void share_results();
  void forget_shared();
  // False: the bucket may have some of it yet.
  bool unshare_speech(std::set<std::string> speech);

  const boost::asio::any_io_executor executor_;
  const Parts parts_;
  Clock::time_point next_{};
  std::optional<Clock::time_point> swept_{};
  bool looks_ = false;
};

}  // namespace navtalk::server
