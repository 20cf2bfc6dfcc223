// Workers on which sessions have failed. Each is asked for its health; the answer and the faults are
// reported to the allocator, which decides about the GPU. Faults that occur while a worker is being
// asked join its report, so a worker that loses all its sessions at once is asked once.
//
// For a while, a client is given no GPU on which its sessions failed, and nobody is given one on which
// the sessions of several clients failed. That protects users, and what happens to their sessions on
// other GPUs shows whether the GPU or the clients' network is at fault.
//
// Belongs to the I/O thread; workers and store are asked on other threads.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "scheduler/health/worker_tokens.h"
#include "scheduler/queue/allocator.h"
#include "server/http/blocking_threads.h"

namespace navtalk::server {

class Suspects {
 public:
  using Clock = std::chrono::steady_clock;

  // `worker_calls`: threads for asking workers, which may take seconds.
  Suspects(boost::asio::any_io_executor executor, Allocator& allocator,
           BlockingThreads& store_calls, BlockingThreads& worker_calls, WorkerTokens worker_tokens);
  Suspects(const Suspects&) = delete;
  Suspects& operator=(const Suspects&) = delete;

  // A session of `client` failed under that lease, which has been given up; `age`: of one that was cut,
  // from the claim on.
  void session_failed(const Lease& lease, SessionFault::Kind kind, const std::string& client,
                      const std::string& why, Clock::duration age = {});
  // A session is over that lasted, for `age` from the claim on; `cut`: its connection broke in the end.
  void session_lasted(const Lease& lease, const std::string& client, Clock::duration age, bool cut);
  // Where this client's sessions failed not long ago, or those of two others.
  std::vector<GpuId> avoided_by(const std::string& client);

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;
  struct Case {
    Lease lease{};
    bool due = false;
    std::vector<SessionFault> faults{};
    std::string last_fault{};
  };
  struct Answer {
    WorkerReport::Answer answer = WorkerReport::Answer::unwell;
    bool asked = true;  // false: this gateway had no descriptor for the question
    std::string why{};
  };
  struct Failure {
    std::string client{};
    GpuId gpu{};
    Clock::time_point at{};
  };

  void open(const Lease& lease, const std::string& why, std::vector<SessionFault> faults);
  Awaitable<void> examine(GpuId gpu);
  // Until this gateway has what it needs to ask; not `asked`: it had not for as long as a lease lasts.
  Awaitable<Answer> ask(const Lease& lease);
  Answer ask_once(const Lease& lease) const;
  Awaitable<void> tell(const WorkerReport& report);
  Awaitable<void> pause();

  const boost::asio::any_io_executor executor_;
  Allocator& allocator_;
  BlockingThreads& store_calls_;
  BlockingThreads& worker_calls_;
  const WorkerTokens worker_tokens_;
  std::map<GpuId, Case> cases_{};
  std::vector<Failure> failures_{};  // oldest first
};

}  // namespace navtalk::server
