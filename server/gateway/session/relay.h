// Frames between a client and its worker, both ways, as they come. Each direction has its own
// bounded queues, so that a side that does not read holds up only what is meant for it.
//
//   client ──receive──► to_worker ──send──► worker
//   client ◄──send──── to_client ◄─receive── worker
//
// Of the I/O thread; the sockets outlive it. After start() it must live until finished().
#pragma once

#include <boost/asio/awaitable.hpp>

#include "server/gateway/access/tenants.h"
#include "server/gateway/session/session_counters.h"
#include "server/http/signal.h"
#include "server/http/socket/token_bucket.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

class Relay {
 public:
  struct Parts {
    boost::asio::any_io_executor executor;
    SessionCounters& counters;
    Signal& changed;                     // notified when a direction ends
    TokenBucket::Rate control_frames{};  // of the client; further frames of it wait
    const TenantSeat* seat = nullptr;    // so do those beyond what its tenant may send
  };
  Relay(WebSocket& client, WebSocket& worker, const Parts& parts);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  void start();
  // Both directions are open.
  bool open() const { return running_ == 2; }
  bool client_ended() const { return client_ended_; }
  // Closes what is open on both sides.
  void close();
  // Until both directions have ended.
  boost::asio::awaitable<void> finished();

 private:
  boost::asio::awaitable<void> to_worker();
  boost::asio::awaitable<void> to_client();
  // Waits until the client may send one more frame; false: it is gone, or the relay is closed.
  boost::asio::awaitable<bool> has_turn(const Frame& frame);
  // Until the next frame may be sent.
  Signal::Clock::duration pause_before(const Frame& frame);
  void take_turn(const Frame& frame);

  const boost::asio::any_io_executor executor_;
  WebSocket& client_;
  WebSocket& worker_;
  SessionCounters& counters_;
  Signal& changed_;
  TokenBucket control_frames_;
  const TenantSeat* const seat_;
  bool told_limit_ = false;  // that the tenant's clients send more than they may
  Signal closing_;
  bool closed_ = false;
  int running_ = 0;  // directions
  bool client_ended_ = false;
};

}  // namespace navtalk::server
