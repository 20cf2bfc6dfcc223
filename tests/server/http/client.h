// Blocking ends of HTTP and WebSocket connections for tests, and servers on threads of their own.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "core/net/http_client.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::tests {

struct Got {
  int status = 0;
  nlohmann::json body;  // null when it is not JSON
  std::string text;
  std::multimap<std::string, std::string> headers;
};
using Headers = std::vector<std::pair<std::string, std::string>>;
inline const Headers k_json = {{"Content-Type", "application/json"}};

// Fails the test when there is no answer.
Got ask(const std::string& method, const std::string& url, const std::string& body = "",
        const Headers& headers = {});

// Asks until `holds`, at most 20 s.
bool eventually(const std::function<bool()>& holds);

// A WebSocket client. Every call gives up after a minute.
class SocketClient {
 public:
  // url: "http://127.0.0.1:1234"
  SocketClient(const std::string& url, const std::string& target, const Headers& headers = {});
  ~SocketClient();

  bool connected() const { return socket_ != nullptr; }
  int declined_status() const { return declined_.status; }

  void send(const std::string& text);
  void send_binary(std::string bytes);
  // nullopt when the connection is over.
  std::optional<server::Frame> receive();
  // The next text frame, as JSON; null when the connection is over.
  nlohmann::json receive_json();
  // Frames are skipped until one of that type; null when the connection ended before.
  nlohmann::json receive_type(const std::string& type);
  // After the connection is over: the server's code; 0 when it said none.
  int close_code();
  // Goes away without a word.
  void vanish();

 private:
  template <class T>
  T wait(boost::asio::awaitable<T> work);

  boost::asio::io_context io_{1};
  std::jthread thread_;
  server::WebSocket::Declined declined_;
  std::unique_ptr<server::WebSocket> socket_;
};

// A TCP connection to whom bytes are just bytes.
class RawClient {
 public:
  // receive_buffer: bytes that the system keeps for it; 0: as many as it likes.
  explicit RawClient(const std::string& url, int receive_buffer = 0);
  ~RawClient();

  // False when the peer has closed.
  bool send(const std::string& bytes);
  // Up to `enough` has come, or the peer closed, or 20 s went by (then the test fails).
  std::string receive_until(const std::string& enough);
  // What comes until the peer closes.
  std::string receive_all();

 private:
  int fd_ = -1;
};

}  // namespace navtalk::tests
