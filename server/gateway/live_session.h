// One user's connection to the gateway, and how the stages of its life end. Of the I/O thread;
// private to server/.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "scheduler/queue/allocator.h"
#include "server/http/signal.h"
#include "server/http/web_socket.h"

namespace navtalk::server {

// Does the session go on after a stage? When it does not, its client has heard why.
enum class Step { on, over };

// How an attempt to open a session on the worker of a lease ended. Who is to blame decides what
// follows, so each has a name.
struct Ready {};
struct ClientLeft {};    // nobody's fault
struct GatewayStops {};  // nor this
struct LeaseGone {};     // the pool gave the slot to others: not the worker's fault
struct Fenced {  // the worker has seen a newer lease on that slot: ours is over, by its book
  std::string why{};
};
struct ClientRefused {  // the client asked for what is not there
  Frame error{};        // the worker's words for it
};
struct WorkerFailed {
  std::string why{};      // never empty
  bool starting = false;  // reached, but it could not start this session
};
using Opening =
    std::variant<Ready, ClientLeft, GatewayStops, LeaseGone, Fenced, ClientRefused, WorkerFailed>;

// The place in the queue that a client was shown last.
struct ShownPlace {
  Waiting place{};
  std::chrono::steady_clock::time_point at{};
};

// From the upgrade to the end.
struct LiveSession {
  LiveSession(WebSocket& socket, const boost::asio::any_io_executor& executor)
      : client(socket), signal(executor) {}

  // Has the client said goodbye, or gone without? What else it sent is dropped: for the time before
  // session.ready. Once true it stays true, whoever asks next.
  bool client_left();

  WebSocket& client;
  Signal signal;  // the client, its worker, the pool or the gateway did something
  Claimant claimant{};
  std::string start{};  // the client's session.start, as it came
  std::optional<Lease> lease{};
  std::string worker_lost{};  // why, when the lease's worker was lost in the session
  std::unique_ptr<WebSocket> worker{};
  int failed_starts = 0;  // workers that were reached and could not start it
  int fenced = 0;         // leases that a worker took for old
  bool pool_changed = false, lease_lost = false, relaying = false;
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();

 private:
  bool left_ = false;
};

}  // namespace navtalk::server
