// One user's live session at the gateway, from session.start to the end:
//
//   SlotSearch: a slot, and a worker that is ready ──► Relay: frames both ways ──► release the slot
//        ▲                                               │
//        └──── the worker is lost: another one ──────────┘
//
// The session outlives its connection: a client that drops may come back with a resume token while the
// slot is held for it. Of the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/log/error_throttle.h"
#include "server/gateway/access/permit.h"
#include "server/gateway/session/client.h"
#include "server/gateway/session/drain_watch.h"
#include "server/gateway/session/open_on_worker.h"
#include "server/gateway/session/relay.h"
#include "server/gateway/session/resume_tokens.h"
#include "server/gateway/session/session_counters.h"
#include "server/gateway/session/session_events.h"
#include "server/gateway/session/session_options.h"
#include "server/gateway/session/session_trace.h"
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
  ResumeTokens& tokens;
  const SessionOptions& options;
};

// Who begins a session, and with what.
struct Arrival {
  std::shared_ptr<ClientConnection> connection;
  std::string start{};  // the client's session.start, as it came
  std::string user{};   // see Sessions::user_of()
  SessionPermit permit{};
  std::chrono::steady_clock::time_point at{};
};

class Session {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  Session(boost::asio::any_io_executor executor, const SessionParts& parts, Arrival arrival);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  SlotClaim& claim() { return claim_; }
  // "" once its connection to the worker has ended for good: the user may come again meanwhile.
  const std::string& user() const { return user_; }
  // Who may resume it; "": whoever has the token.
  const std::string& owner() const { return permit_.who.tenant.text; }
  bool away() const { return client_.away(); }
  // Whether its connection has a seat for another one that takes its place.
  bool seated() const { return client_.connection() && client_.connection()->seat; }
  // Until the session is over and its slot released. Throws nothing.
  Awaitable<void> run();

  // --- told by others while it runs
  void note_pool_change();
  // By when the sessions of drained GPUs end; this one is told if its GPU is one of them.
  void note_drains(const DrainWatch::Ends& ends);
  // The client is back, on another connection: it gets session.ready, and a key frame.
  void resume(std::shared_ptr<ClientConnection> connection);
  // The gateway is going away: a session that has its worker is told so; one that still looks for a
  // worker ends.
  void drain(std::chrono::milliseconds notice);
  // The notice is over.
  void end_drained();
  // Ends the session if the key was revoked with which it began, or with which the client is connected.
  void note_revocations();

 private:
  Awaitable<void> live();
  // False: the permit does not hold any more, and the client has been told why.
  Awaitable<bool> may_begin();
  Awaitable<std::optional<Ready>> find_worker();
  void keep_ready(const Frame& ready);
  void send_ready();
  // From the first worker on, until the session is over.
  Awaitable<void> serve(Ready ready);
  // What ended the service: the client, the lease, or the worker. False: the session is over.
  Awaitable<bool> serve_until_lost(Relay& relay);
  Awaitable<bool> change_worker(Relay& relay);
  // The session ends, because of the worker or the lease.
  void part(const Relay& relay);
  void tell_drain();
  // Where a drain was undone: unless another one goes on. A client that is away hears it when it comes back.
  void tell_undrained();
  void begin_service();
  // `cut`: its connection to the worker broke.
  void end_service(bool cut);
  // To the pool, how a session fared at its worker; once its slot is free.
  void report();

  struct Service {  // by one worker
    Lease lease{};
    std::string user{};
    std::chrono::steady_clock::time_point began{}, ended{};
    std::chrono::steady_clock::duration age{};  // at its end, from the claim on
    bool cut = false;
  };

  const boost::asio::any_io_executor executor_;
  const SessionParts parts_;
  const std::chrono::steady_clock::time_point arrived_;
  SessionEvents events_;
  Client client_;
  SlotClaim claim_;
  std::string user_;
  const SessionPermit permit_;
  const std::string start_;  // the client's session.start, within its permit
  std::string ready_{};  // the last worker's session.ready, as the client gets it but for the token
  Relay* relay_ = nullptr;
  std::optional<std::chrono::steady_clock::time_point> gpu_ends_at_{};  // the pool drains it
  bool last_gpu_ends_ = false;  // and no other one is in service
  bool worker_drains_ = false;  // by itself
  bool missed_undrained_ = false;
  // When the permit's time is over.
  std::chrono::steady_clock::time_point permit_ends_at_ =
      std::chrono::steady_clock::time_point::max();
  std::optional<Service> unreported_{};
  SessionTrace trace_;
};

}  // namespace navtalk::server
