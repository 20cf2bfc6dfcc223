#include "tests/server/http/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>

#include "core/net/url.h"

namespace navtalk::tests {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
namespace asio = boost::asio;

namespace {

constexpr auto k_patience = 60s;

}  // namespace

Got ask(const std::string& method, const std::string& url, const std::string& body,
        const Headers& headers) {
  HttpClient client;
  const HttpResult result =
      client.send({.method = method, .url = url, .headers = headers, .body = body});
  if (const auto* fault = std::get_if<HttpFault>(&result))
    FAIL(method << " " << url << ": " << fault->message);
  const auto& answer = std::get<HttpAnswer>(result);
  return {.status = answer.status,
          .body = nlohmann::json::parse(answer.body, nullptr, false),
          .text = answer.body,
          .headers = answer.headers};
}

bool eventually(const std::function<bool()>& holds) {
  const auto until = steady_clock::now() + k_patience;
  while (steady_clock::now() < until) {
    if (holds()) return true;
    std::this_thread::yield();
  }
  return false;
}

template <class T>
T SocketClient::wait(asio::awaitable<T> work) {
  std::future<T> result = asio::co_spawn(io_, std::move(work), asio::use_future);
  if (result.wait_for(k_patience) != std::future_status::ready) {
    // Nothing of ours may be used by the coroutine that goes on.
    std::fprintf(stderr, "a WebSocket client waited in vain\n");
    std::abort();
  }
  return result.get();
}

SocketClient::SocketClient(const std::string& url, const std::string& target,
                           const Headers& headers) {
  thread_ = std::jthread([this] {
    const auto guard = asio::make_work_guard(io_);
    io_.run();
  });
  const HttpUrl parts = parse_http_url(url);
  const server::WebSocket::Address address{.host = parts.host,
                                           .port = std::to_string(parts.port),
                                           .target = target,
                                           .headers = headers,
                                           .tls = parts.secure};
  const server::SocketLimits limits{.frame_bytes = 8 << 20};
  socket_ = wait(server::WebSocket::connect(address, limits, declined_));
}

SocketClient::~SocketClient() {
  vanish();
  io_.stop();
}

void SocketClient::vanish() {
  if (!socket_) return;
  wait([](std::unique_ptr<server::WebSocket>& socket) -> asio::awaitable<void> {
    socket.reset();
    co_return;
  }(socket_));
}

void SocketClient::send(const std::string& text) {
  server::Frame frame;
  frame.bytes = text;
  wait(socket_->send(std::move(frame)));
}

void SocketClient::send_binary(std::string bytes) {
  server::Frame frame;
  frame.text = false;
  frame.bytes = std::move(bytes);
  wait(socket_->send(std::move(frame)));
}

std::optional<server::Frame> SocketClient::receive() { return wait(socket_->receive()); }

nlohmann::json SocketClient::receive_json() {
  const auto frame = receive();
  return frame && frame->text ? nlohmann::json::parse(frame->bytes) : nlohmann::json();
}

nlohmann::json SocketClient::receive_type(const std::string& type) {
  for (;;) {
    nlohmann::json frame = receive_json();
    if (frame.is_null() || frame.at("type") == type) return frame;
  }
}

int SocketClient::close_code() {
  while (receive()) {
  }
  return wait([](server::WebSocket& socket) -> asio::awaitable<int> {
    const auto reason = socket.peer_close();
    co_return reason ? reason->first : 0;
  }(*socket_));
}

RawClient::RawClient(const std::string& url, int receive_buffer)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const HttpUrl parts = parse_http_url(url);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(parts.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience = {20, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (receive_buffer > 0)
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

RawClient::~RawClient() { ::close(fd_); }

bool RawClient::send(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t size = ::send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) done += static_cast<std::size_t>(size);
  }
  return true;
}

std::string RawClient::receive_until(const std::string& enough) {
  std::string all;
  char bytes[4096];
  while (enough.empty() || all.find(enough) == std::string::npos) {
    const ssize_t size = ::recv(fd_, bytes, sizeof bytes, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == ECONNRESET) break;
    REQUIRE(size >= 0);  // it came within the time
    if (size == 0) break;
    all.append(bytes, static_cast<std::size_t>(size));
  }
  return all;
}

std::string RawClient::receive_all() { return receive_until(""); }

}  // namespace navtalk::tests
