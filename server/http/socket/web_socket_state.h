// What stands behind WebSocket and Upgrade. Private to server/: it brings Beast.
#pragma once

#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "server/http/socket/maybe_tls_stream.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

// Without compression, which no frame of ours needs.
using Stream = boost::beast::websocket::stream<MaybeTlsStream, false>;
using BeastRequest = boost::beast::http::request<boost::beast::http::string_body>;

struct Outgoing {
  Frame frame{};
  std::optional<std::pair<CloseCode, std::string>> close{};  // instead of a frame
};

struct WebSocket::State {
  template <class T>
  using Channel = boost::asio::experimental::channel<void(boost::system::error_code, T)>;

  State(MaybeTlsStream below, const SocketLimits& socket_limits);
  // Starts reader and writer; after the handshake.
  void start(const std::shared_ptr<State>& self);
  void abort();

  SocketLimits limits;
  Stream stream;
  // Without a frame: the end. Closing the channel instead would lose what is still in it.
  Channel<std::optional<Frame>> incoming;
  Channel<Outgoing> outgoing;
  boost::asio::steady_timer write_deadline, both_ended;  // the second: reader and writer
  std::function<void()> on_activity;
  int running = 0;  // of reader and writer
  bool closing = false, read_over = false, end_received = false;
};

struct Upgrade::State {
  MaybeTlsStream& below;
  const BeastRequest& request;
  bool accepted = false;
};

}  // namespace navtalk::server
