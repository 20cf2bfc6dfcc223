// One attempt to open a session on the worker of a lease. The client can leave at any moment of it;
// that says nothing about the worker.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "server/gateway/session/client.h"
#include "server/gateway/session/session_events.h"
#include "server/gateway/session/session_options.h"
#include "server/gateway/session/slot_claim.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

// How the attempt ended. Whose fault it was decides what follows, so each has a name.
struct Ready {
  std::unique_ptr<WebSocket> worker;
  Frame frame{};  // its session.ready
};
struct ClientLeft {};     // nobody's fault
struct GatewayDrains {};  // nor this
struct LeaseLost {};      // the store gave the slot to others: not the worker's fault
// This gateway lacked a descriptor or a port for the connection: the worker was not asked.
struct GatewayShort {
  std::string why{};
};
struct Fenced {  // the worker has seen a newer lease on that slot
  std::string why{};
};
struct ClientRefused {  // the client asked for what is not there
  Frame error{};        // the worker's words for it
};
// It is well, and has no memory for another session now.
struct WorkerFull {
  std::string why{};
};
struct WorkerFailed {
  std::string why{};       // never empty
  bool starting = false;   // the worker was reached, but could not start this session
  bool own_words = false;  // the worker itself declined it, before it knew what the client wants
};
using Opening = std::variant<Ready, ClientLeft, GatewayDrains, LeaseLost, GatewayShort, Fenced,
                             ClientRefused, WorkerFull, WorkerFailed>;

struct OpenRequest {
  Client& client;  // gets what the worker says before it is ready
  const SlotClaim& claim;
  SessionEvents& events;
  const std::function<std::string()>& start;  // the session.start for the worker, as of now
  const SessionOptions& options;
};

boost::asio::awaitable<Opening> open_on_worker(OpenRequest request);

}  // namespace navtalk::server
