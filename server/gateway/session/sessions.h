// All live sessions of this gateway: the handler of GET /v1/realtime, what each is told while it
// runs, and their end when the gateway goes away. A session may have several connections, one after the
// other; a connection may have no session yet. Of the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "server/gateway/session/lease_keeper.h"
#include "server/gateway/session/session.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

class Sessions {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  Sessions(boost::asio::any_io_executor executor, Allocator& allocator, BlockingThreads& threads,
           LeaseKeeper& keeper, Suspects& suspects, SessionOptions options);

  // One connection, until it is over.
  Awaitable<std::optional<Response>> realtime(const Request& request, Upgrade& upgrade,
                                              SessionPermit permit);
  // Whether there is room for one more user; otherwise what to tell.
  std::optional<Response> refuse_new() const;
  void note_pool_change();
  void note_drains(const DrainWatch::Ends& ends);
  // Keys may have been revoked.
  void note_revocations();
  // From now on there are no new sessions.
  void refuse_all_new() { draining_ = true; }
  // 503 `draining`: what a gateway that goes away answers to new work.
  static Response draining_response();
  // refuse_all_new(), and tells all of them. Returns when the last one is over, or has been told to
  // end because the notice is over.
  Awaitable<void> drain(std::chrono::milliseconds notice);

  bool draining() const { return draining_; }
  // Users that are connected, and those that may come back.
  std::size_t size() const { return sessions_.size() + starting_.size(); }
  const SessionCounters& counters() const { return counters_; }

 private:
  class Entry;
  class Starting;
  // Until the connection is a session's, or has been refused.
  Awaitable<void> begin(const std::shared_ptr<ClientConnection>& connection, std::string address,
                        SessionPermit permit);
  // The first frame; nullopt: the client has been told what is wrong with it, or is gone.
  Awaitable<std::optional<std::string>> receive_start(ClientConnection& connection);
  // Within the tenant's limit; false: there is none, and the client has been told so.
  static bool take_seat(ClientConnection& connection, const SessionPermit& permit);
  void resume(const std::shared_ptr<ClientConnection>& connection, const std::string& token,
              const SessionPermit& permit);
  Awaitable<void> run(Arrival arrival, std::string address);
  // For one more user; or one who may be coming back, also before it is known here that the connection broke.
  bool has_room() const;
  // Tells users apart, as far as that is possible without keys: the address, and a number among its
  // present sessions. One who comes again and again has the same name every time.
  std::string user_of(const std::string& address) const;

  const boost::asio::any_io_executor executor_;
  Allocator& allocator_;
  BlockingThreads& threads_;
  LeaseKeeper& keeper_;
  Suspects& suspects_;
  const SessionOptions options_;
  SessionCounters counters_{};
  ErrorThrottleLog shortages_{"connections to workers"};
  ResumeTokens tokens_{};
  std::set<Session*> sessions_{};
  std::set<ClientConnection*> starting_{};  // no session.start came yet
  Signal ended_;                            // one of them
  bool draining_ = false;
};

}  // namespace navtalk::server
