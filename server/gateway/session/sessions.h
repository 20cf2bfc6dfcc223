// All live sessions of this gateway: the handler of GET /v1/realtime, what each is told while it
// runs, and their end when the gateway goes away. Of the I/O thread.
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

  // Whether there is room for one more session; otherwise what to tell.
  std::optional<Response> refuse_new() const;
  // One session, until it is over.
  Awaitable<std::optional<Response>> realtime(const Request& request, Upgrade& upgrade,
                                              SessionPermit permit);
  void note_pool_change();
  // From now on there are no new sessions. Returns when the last one is over, or has been told to
  // end because the notice is over.
  Awaitable<void> drain(std::chrono::milliseconds notice);

  bool draining() const { return draining_; }
  std::size_t size() const { return sessions_.size(); }
  const SessionCounters& counters() const { return counters_; }

 private:
  class Entry;
  Awaitable<void> run(WebSocket& socket, const std::string& address, SessionPermit permit);
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
  std::set<Session*> sessions_{};
  Signal ended_;  // one of them
  bool draining_ = false;
};

}  // namespace navtalk::server
