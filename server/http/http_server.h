// A small HTTP/1.1 and WebSocket server on one I/O thread: a listener, and one coroutine a
// connection that reads requests within limits and time, asks the router, writes the answers.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/router.h"

namespace navtalk::server {

class TlsIdentity;

// "127.0.0.1:2160", "[::1]:0"; port 0 takes a free one.
struct ListenAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};
// Error{usage} for text that is not ADDR:PORT with a numeric address.
ListenAddress parse_listen_address(std::string_view text);
bool is_loopback(const ListenAddress& address);

struct HttpLimits {
  std::uint32_t header_bytes = 16 << 10;
  std::uint64_t body_bytes = 1 << 20;
  std::chrono::milliseconds request{15'000};        // from the first byte to the last one
  std::chrono::milliseconds long_request{300'000};  // of a route that takes long bodies
  // Of such a body: 408 for one that is slower, 16 KiB a second on average.
  std::uint64_t piece_bytes = 160 << 10;
  std::chrono::milliseconds piece{10'000};
  std::chrono::milliseconds idle{60'000};  // between two requests
  std::chrono::milliseconds write{15'000};
  std::size_t connections = 1024;
  // Taken beyond these, for one request each that is not a WebSocket: operators and health checks are
  // answered also when users fill the server.
  std::size_t reserve = 16;
  std::chrono::milliseconds handshake{10'000};  // of TLS
  // Connections from one address (IPv6: one /64 network) of another machine; 0: no bound of its own.
  std::size_t per_address = 0;
  std::vector<std::string> unbounded_addresses{};  // to which that does not apply, as numbers
};

class HttpServer {
 public:
  // Listens at once. Error{failed} when the address cannot be had. `tls`: nullptr for clear text.
  HttpServer(boost::asio::io_context& io, const ListenAddress& address, const HttpLimits& limits,
             Router router, std::shared_ptr<const TlsIdentity> tls = nullptr);
  ~HttpServer();

  std::uint16_t port() const;
  // "http://127.0.0.1:40123", or "https://..."
  std::string url() const;
  // Of a server with TLS: for the connections that come from now on. On the I/O thread.
  void use(std::shared_ptr<const TlsIdentity> tls);
  // Takes no more connections and closes idle ones; requests under way get their answer. On the I/O
  // thread.
  void stop();
  // After stop(): waits until every connection is over, at most so long.
  boost::asio::awaitable<void> finished(std::chrono::milliseconds at_most);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace navtalk::server
