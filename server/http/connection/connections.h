// The open connections of a server, within their number. A full server closes the connection that has
// waited longest without a complete request, so that connections which ask for nothing keep nobody
// out. Of the I/O thread; private to server/http: it brings Beast.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "server/http/http_server.h"
#include "server/http/socket/maybe_tls_stream.h"

namespace navtalk::server {

struct Connection {
  static constexpr std::size_t k_buffer_bytes =
      48 << 10;  // bounds a chunk's extensions and the trailer

  explicit Connection(boost::asio::ip::tcp::socket socket)
      : stream(boost::beast::tcp_stream(std::move(socket))) {}
  boost::beast::tcp_stream& tcp() { return stream.next_layer(); }
  MaybeTlsStream stream;
  std::string peer{};        // its address
  std::string neighbours{};  // the network that is counted as one; "": it has no bound of its own
  boost::beast::flat_buffer buffer{k_buffer_bytes};
  bool idle = true;        // no request is being read or answered
  bool upgraded = false;   // the stream went to a WebSocket
  bool reserve = false;    // beyond the limit: for one request that is no WebSocket
  bool lingers = false;    // its last request was refused before all of it was read
  bool displaced = false;  // closed to make room
  std::optional<std::list<Connection*>::iterator> waiting{};  // its place among those that wait
};

class Connections {
 public:
  using Place = std::list<Connection>::iterator;

  explicit Connections(const HttpLimits& limits) : limits_(limits) {}

  // Makes room first if there is none, in the reserve only where the reserve is full too; nullopt: there
  // is still none, or its address has as many as it may, and the socket is closed.
  std::optional<Place> add(boost::asio::ip::tcp::socket socket);
  // It has no complete request (yet), or has one.
  void waits(Connection& connection);
  void asks(Connection& connection);
  void remove(Place connection);
  // Closes the one that has waited longest; false when none waits.
  bool make_room();

  bool empty() const { return all_.empty(); }
  std::list<Connection>& all() { return all_; }

 private:
  bool make_room(bool (*may_go)(const Connection&));
  std::size_t& count_of(const Connection& connection) {
    return connection.reserve ? in_reserve_ : regular_;
  }

  const HttpLimits limits_;
  std::map<std::string, std::size_t> of_neighbours_{};
  std::list<Connection> all_{};
  std::list<Connection*> waiting_{};  // longest first
  // Without those that are displaced: their descriptors are free.
  std::size_t regular_ = 0, in_reserve_ = 0;
};

}  // namespace navtalk::server
