// One user's live session at the gateway, from the upgrade to the end:
//
//   receive_start() ──► SlotSearch: a slot, and a worker that is ready ──► Relay: frames both ways
//        │                   │                                                │
//        └───────────────────┴────────────────────────────────────────────────┴──► release the slot
//
// Of the I/O thread. Its socket outlives it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "core/log/error_throttle.h"
#include "server/gateway/access/permit.h"
#include "server/gateway/session/client.h"
#include "server/gateway/session/session_counters.h"
#include "server/gateway/session/session_events.h"
#include "server/gateway/session/session_options.h"
#include "server/gateway/session/slot_claim.h"
#include "server/gateway/session/suspects.h"
#include "server/http/blocking_threads.h"

namespace navtalk::server {

// What all sessions of a gateway share.
struct SessionParts {
  Allocator& allocator;
  BlockingThreads& threads;
  Suspects& suspects;
  SessionCounters& counters;
  ErrorThrottleLog& shortages;
  const SessionOptions& options;
};

class Session {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  // `user`: see Sessions::user_of().
  Session(WebSocket& socket, boost::asio::any_io_executor executor, const SessionParts& parts,
          std::string user, SessionPermit permit);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  SlotClaim& claim() { return claim_; }
  // "" once its connection to the worker has ended: the user may come again meanwhile.
  const std::string& user() const { return user_; }
  // Until the session is over and its slot released. Throws nothing.
  Awaitable<void> run();

  // --- told by others while it runs
  void note_pool_change();
  // The gateway is going away: `notice` is for a session that has its worker; one that still looks
  // for a worker ends.
  void drain(const Frame& notice);
  // The notice is over.
  void end_drained();

 private:
  Awaitable<void> live();
  // False: the permit does not hold any more, and the client has been told why.
  Awaitable<bool> may_begin();
  // False: the session is over, and the client has been told why.
  Awaitable<bool> receive_start();
  Awaitable<void> relay(WebSocket& worker);
  // True: the connection to the worker broke.
  bool tell_end(const WebSocket& worker, bool client_ended);
  struct Ending {
    std::chrono::steady_clock::duration lasted{};  // from ready on
    std::chrono::steady_clock::duration age{};     // from the claim on
    bool cut = false;
  };
  void report(const Lease& lease, const Ending& ending, const std::string& user);

  const boost::asio::any_io_executor executor_;
  const SessionParts parts_;
  const std::chrono::steady_clock::time_point arrived_ = std::chrono::steady_clock::now();
  SessionEvents events_;
  Client client_;
  SlotClaim claim_;
  std::string user_;
  SessionPermit permit_;
  std::string start_{};  // the client's session.start, within its permit
  bool relaying_ = false;
};

}  // namespace navtalk::server
