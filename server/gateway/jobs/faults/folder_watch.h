// Whether this gateway can write the folder of its jobs' files. Looked at every few seconds, beside everything else: a
// disk that does not answer keeps nobody waiting. Of the I/O thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <string>

#include "core/base/time.h"
#include "server/gateway/jobs/job_files.h"
#include "server/http/blocking_threads.h"
#include "server/http/signal.h"

namespace navtalk::server {

class FolderWatch {
 public:
  // Files and threads outlive it. A disk that does not answer keeps a thread.
  FolderWatch(boost::asio::any_io_executor executor, const JobFiles& files,
              BlockingThreads& threads)
      : executor_(executor), files_(files), threads_(threads) {}
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Begins to look where that is due; `changed` is told of another answer.
  void look_if_due(Signal& changed);
  // The next look is due at once: a file could not be kept.
  void doubt() { next_ = {}; }
  // What was wrong with the folder at the last look, with its path, or that it has not answered for ten seconds; empty: nothing.
  const std::string& problem() const { return problem_; }

 private:
  using Clock = Signal::Clock;
  boost::asio::awaitable<void> look(Signal& changed);

  const boost::asio::any_io_executor executor_;
  const JobFiles& files_;
  BlockingThreads& threads_;
  void say(std::string problem, Signal& changed);

  Clock::time_point next_{}, begun_{};  // of the next look, and of the last one
  bool looks_ = false;
  std::string problem_{};
};

}  // namespace navtalk::server
