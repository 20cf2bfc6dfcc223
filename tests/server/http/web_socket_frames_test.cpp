// Frames on their way out of a WebSocket, and whom it counts as gone.
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "server/http/http_server.h"
#include "tests/server/http/client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// Bytes of frames: below, around and beyond what is held back for the next one.
constexpr std::size_t k_burst[] = {1,     125,   126,    1'000, 8'000, 8'000, 17'000, 0,
                                   9'000, 9'000, 70'000, 1'280, 8'000, 2,     3,      16'000};
// More than the system keeps for a peer that does not read.
constexpr std::size_t k_too_much = 16 << 20;
constexpr std::size_t k_picture = 32'000;
const std::string k_ping("\x89\0", 2), k_pong("\x8a\x80\0\0\0\0", 6);
// With the code 1000, as a client masks it and as a server does not.
const std::string k_masked_close("\x88\x82\0\0\0\0\x03\xe8", 8), k_close("\x88\x02\x03\xe8", 4);

std::string burst_frame(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * size % 251);
  return bytes;
}

using Talk = std::function<asio::awaitable<void>(WebSocket&)>;

// A server on a thread of its own, which treats every WebSocket alike.
class SocketServer {
 public:
  SocketServer(const SocketLimits& limits, Talk talk)
      : server_(io_, {}, {}, routes(limits, std::move(talk))), thread_([this] { io_.run(); }) {}
  ~SocketServer() { io_.stop(); }

  std::string url() const { return server_.url(); }

 private:
  static Router routes(const SocketLimits& limits, Talk talk) {
    Router router;
    router.on_socket(
        "/",
        [limits, talk = std::move(talk)](
            const Request&, Upgrade& upgrade) -> asio::awaitable<std::optional<Response>> {
          const auto socket = co_await upgrade.accept(limits);
          if (socket) co_await talk(*socket);
          co_return std::nullopt;
        });
    return router;
  }

  asio::io_context io_{1};
  HttpServer server_;
  std::jthread thread_;
};

void open_socket(RawClient& client) {
  client.send(
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  REQUIRE_THAT(client.receive_until("\r\n\r\n"), Catch::Contains(" 101 "));
}

}  // namespace

TEST_CASE("frames that are given together come in their order, whatever their sizes are") {
  const SocketServer server({}, [](WebSocket& socket) -> asio::awaitable<void> {
    for (const std::size_t size : k_burst)
      socket.offer({.text = false, .bytes = burst_frame(size)});
    socket.close(CloseCode::normal, "");
    co_await socket.finished();
  });
  SocketClient client(server.url(), "/");
  for (const std::size_t size : k_burst) {
    const auto frame = client.receive();
    REQUIRE(frame);
    CHECK((frame->bytes == burst_frame(size)));
  }
  CHECK_FALSE(client.receive());
  CHECK(client.close_code() == 1000);
}

TEST_CASE("a frame reaches its client although those behind it were dropped") {
  const SocketServer server({}, [](WebSocket& socket) -> asio::awaitable<void> {
    for (const char* const word : {"kept", "dropped", "dropped"}) socket.offer({.bytes = word});
    // As soon as the first of them is out of the queue.
    for (bool queued = true; queued;) {
      co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
      queued = false;
      socket.drop_unsent([&](const Frame& frame) {
        queued = queued || frame.bytes == "kept";
        return false;
      });
    }
    socket.drop_unsent([](const Frame& frame) { return frame.bytes == "dropped"; });
    co_await socket.receive();
  });
  SocketClient client(server.url(), "/");
  const auto frame = client.receive();
  REQUIRE(frame);
  CHECK(frame->bytes == "kept");
}

TEST_CASE("a client that closes while much is unsent is answered before the connection ends") {
  const SocketServer server({.unsent_bytes = 2 * k_too_much},
                            [](WebSocket& socket) -> asio::awaitable<void> {
                              socket.offer({.text = false, .bytes = std::string(k_too_much, 'x')});
                              for (int i = 0; i < 8; ++i) socket.offer({.bytes = "more"});
                              // Once the close frame came.
                              while (co_await socket.receive()) {
                              }
                              co_await socket.finished();
                            });
  RawClient client(server.url());
  open_socket(client);
  // The server has begun, and cannot have ended.
  client.receive_until("x");
  client.send(k_masked_close);
  const std::string last = client.receive_all();
  CHECK(last.ends_with(k_close));
}

// Together more than the system keeps for a peer that does not read, and fewer than the frames that may wait.
TEST_CASE("large frames that nobody takes are not read, and none of them is lost") {
  constexpr int k_large_frames = 30;
  std::atomic<int> read = 0, taken = 0;
  std::atomic<bool> takes = false;
  const SocketServer server({}, [&](WebSocket& socket) -> asio::awaitable<void> {
    socket.on_activity([&] { ++read; });
    asio::steady_timer pause(co_await asio::this_coro::executor);
    while (!takes) {
      pause.expires_after(10ms);
      co_await pause.async_wait(asio::use_awaitable);
    }
    while (const auto frame = co_await socket.receive()) {
      if (frame->bytes == std::string(1 << 20, static_cast<char>(taken))) ++taken;
    }
  });
  SocketClient client(server.url(), "/");
  std::jthread sender([&] {
    for (int i = 0; i < k_large_frames; ++i)
      client.send_binary(std::string(1 << 20, static_cast<char>(i)));
  });
  REQUIRE(eventually([&] { return read > 0; }));
  // A second frame would have come by then.
  for (int turns = 0; turns < 100 && read == 1; ++turns) std::this_thread::sleep_for(20ms);
  CHECK(read == 1);
  takes = true;
  CHECK(eventually([&] { return taken == k_large_frames; }));
}

TEST_CASE("a picture is one frame on the wire") {
  const SocketServer server({}, [](WebSocket& socket) -> asio::awaitable<void> {
    co_await socket.receive();
    socket.offer({.text = false, .bytes = std::string(k_picture, 'x')});
    socket.offer({.bytes = "end"});
    co_await socket.receive();
  });
  RawClient client(server.url());
  open_socket(client);
  client.send(std::string("\x81\x81\0\0\0\0g", 7));
  const std::string head("\x82\x7e\x7d\0", 4);
  CHECK((client.receive_until("end") == head + std::string(k_picture, 'x') + "\x81\x03" + "end"));
}

TEST_CASE("a client that says nothing but answers pings is kept") {
  // It is pinged after half of that time, and has the other half for its answer.
  const SocketServer server({.idle_timeout = 8s}, [](WebSocket& socket) -> asio::awaitable<void> {
    co_await socket.receive();
  });
  RawClient client(server.url());
  open_socket(client);
  for (int i = 0; i < 2; ++i) {
    CHECK(client.receive_until(k_ping) == k_ping);
    client.send(k_pong);
  }
}
