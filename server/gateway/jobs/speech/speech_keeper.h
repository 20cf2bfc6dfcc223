// Keeps the speech that was sent with a job: on this gateway's disk, and in the bucket where gateways share one. An answer
// waits for a slow bucket for a few seconds only. Of the I/O thread.
//
//   on the disk ──► the bucket takes it in time ──► recorded ──► is it still in the bucket?
//          └──────► it does not ──────────────────► recorded ──► OldFiles brings it there later, after a kill, too
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/base/time.h"
#include "server/gateway/jobs/job_files.h"
#include "server/http/blocking_threads.h"

namespace navtalk::server {

class SpeechKeeper {
 public:
  struct Parts {
    const JobFiles& files;
    BlockingThreads& file_threads;
    BlockingThreads& bucket_threads;
    std::stop_token stop{};                       // nothing waits for the bucket after this
    Duration patience = std::chrono::seconds(5);  // with a bucket that does not answer
  };
  // Parts outlive it.
  explicit SpeechKeeper(Parts parts) : parts_(std::move(parts)) {}

  // JobSpec::audio of the speech, which is on the disk then. OwnFault with the system's reason; Error{failed} where the
  // gateway ends before the bucket has it: no other one might ever have it.
  boost::asio::awaitable<std::string> keep(std::string_view speech);
  // Behind the record of its job: JobFiles::ensure_shared(), for which nobody waits.
  void ensure_shared(const std::string& audio);

 private:
  // False: the bucket does not have it yet.
  boost::asio::awaitable<bool> shared_in_time(std::string audio);

  const Parts parts_;
};

}  // namespace navtalk::server
