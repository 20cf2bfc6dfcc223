// From session.start to a worker that is ready, or a client who has been told why not.
//
//   arrive ──► Waiting ── queue.update, until a slot is claimed ──► Lease ──► open_on_worker
//      │          ▲                                                              │
//      ▼          └── the worker failed: its slot is free, it becomes a suspect ─┤
//    NoGpu: refused        the lease is lost, or the worker fenced it off        ▼
//                          or has no memory for another session
//                                                              Ready, or over for this client
//
// A gateway that has no descriptor or port left for the connection gives the slot back at once and
// tries again a few times; that does not count against the worker.
//
// A session that lost its GPU takes the same way: its lease ends first, and if it gets no other GPU,
// the client is sent `worker_lost`.
//
// While the store does not answer, the client is told so, and its claim is repeated every second; a
// client with a place in the queue keeps it. A client is also told while one call waits for long, as
// for a locked database.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "core/log/error_throttle.h"
#include "server/gateway/session/client.h"
#include "server/gateway/session/open_on_worker.h"
#include "server/gateway/session/session_counters.h"
#include "server/gateway/session/session_events.h"
#include "server/gateway/session/session_options.h"
#include "server/gateway/session/slot_claim.h"
#include "server/gateway/session/suspects.h"

namespace navtalk::server {

class SlotSearch {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  struct Parts {
    Client& client;
    SlotClaim& claim;
    SessionEvents& events;
    SessionCounters& counters;
    Suspects& suspects;
    ErrorThrottleLog& shortages;
    const SessionOptions& options;
    const std::string& user;  // see Sessions::user_of()
    Duration store_patience;  // how long the store may be away until the client is sent away
    // Of a session that lost its GPU: called when the lease on that has ended. Empty: the session
    // begins.
    std::function<void()> lease_ended{};
  };
  // `start`: the session.start for a worker, as of the time of the call.
  SlotSearch(Parts parts, std::function<std::string()> start)
      : parts_(std::move(parts)), start_(std::move(start)) {}

  // The worker, with the session ready on it; nullopt: the session is over, and the client has been
  // told why.
  Awaitable<std::optional<Ready>> run();

 private:
  enum class Next { check_again, ready, over };
  // What a client was shown last.
  struct Shown {
    Waiting waiting{};
    std::chrono::steady_clock::time_point at{};
  };

  // nullopt: the store did not answer. The client is told before, when the answer takes long.
  Awaitable<std::optional<Allocation>> ask_in_time();
  Awaitable<std::optional<Allocation>> ask();
  void tell_store_away();
  Awaitable<Next> follow(const Allocation& allocation);
  Awaitable<Next> wait_for_store();
  Awaitable<Next> wait_for_change();
  Awaitable<Next> try_worker();
  Awaitable<Next> after(Opening opening);
  Awaitable<Next> give_up_lease(const Fenced& fenced);
  Awaitable<Next> leave_full(const WorkerFull& full);
  Awaitable<Next> try_later(const GatewayShort& lack);
  Awaitable<Next> fail_worker(const WorkerFailed& failed);
  Awaitable<Next> wait_in_queue(const Waiting& waiting);
  Next refuse(const NoGpu& none);
  Next refuse_draining();
  // No GPU can be had: `code` for a user who was not served yet.
  Next refuse(std::string_view code, std::string_view message, std::optional<double> retry_after_s,
              CloseCode close);
  void show(const Waiting& waiting);
  void tell(const Waiting& waiting);

  const Parts parts_;
  const std::function<std::string()> start_;
  Shown shown_{};
  Waiting place_{};         // that was told last
  int failed_starts_ = 0;   // workers that were reached and could not start the session
  bool told_away_ = false;  // that the store is away
  std::chrono::steady_clock::time_point told_at_{};  // of the queue, or that the store is away
  int fenced_ = 0;                                   // leases that a worker took for old
  int full_ = 0;                                     // refusals for want of memory
  int shortages_ = 0;                                // in a row
  bool arrived_ = false;                             // the allocator has answered once
  std::optional<std::chrono::steady_clock::time_point> away_since_{};  // the store
  std::optional<Ready> ready_{};
};

}  // namespace navtalk::server
