// A server whose connections are all taken, or whose process is out of descriptors.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>

#include "server/http/connection_caps.h"
#include "server/http/http_server.h"
#include "tests/no_descriptors.h"
#include "tests/server/http/client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

Router routes() {
  Router router;
  for (const char* const path : {"/healthz", "/v1/pool"}) {
    router.on("GET", path, [](const Request&) -> asio::awaitable<Response> {
      co_return json_response(200, {{"well", true}});
    });
  }
  router.on_socket(
      "/socket", [](const Request&, Upgrade& upgrade) -> asio::awaitable<std::optional<Response>> {
        const auto socket = co_await upgrade.accept({});
        while (socket) {
          std::optional<Frame> frame = co_await socket->receive();
          if (!frame || !co_await socket->send(std::move(*frame))) break;
        }
        co_return std::nullopt;
      });
  return router;
}

class FullServer {
 public:
  explicit FullServer(const HttpLimits& limits) : server_(io_, {}, limits, routes()) {
    thread_ = std::jthread([this] { io_.run(); });
  }
  ~FullServer() { io_.stop(); }
  std::string url() const { return server_.url(); }

 private:
  asio::io_context io_{1};
  HttpServer server_;
  std::jthread thread_;
};

std::string get_text(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

// The first half of a request, and its rest later.
class SlowRequest {
 public:
  explicit SlowRequest(RawClient& client) : client_(client) {
    client_.send(text_.substr(0, half()));
  }
  std::string finish() const {
    client_.send(text_.substr(half()));
    return client_.receive_all();
  }

 private:
  std::size_t half() const { return text_.size() / 2; }
  const std::string text_ = get_text("/healthz");
  RawClient& client_;
};

std::string health(const FullServer& serving) {
  RawClient client(serving.url());
  client.send(get_text("/healthz"));
  return client.receive_all();
}

bool echoes(SocketClient& client) {
  client.send("hello");
  const auto frame = client.receive();
  return frame && frame->bytes == "hello";
}

}  // namespace

TEST_CASE("users who fill a server keep out further users, not operators and health checks") {
  const FullServer serving({.connections = 2, .reserve = 1});
  SocketClient first(serving.url(), "/socket"), second(serving.url(), "/socket");
  REQUIRE(echoes(first));
  REQUIRE(echoes(second));
  for (const char* const path : {"/v1/pool", "/healthz"}) {
    INFO(path);
    // The one before may hold the reserve for a moment longer.
    std::string answer;
    REQUIRE(eventually([&] {
      RawClient client(serving.url());
      if (client.send(get_text(path))) answer = client.receive_all();
      return !answer.empty();
    }));
    CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 200 ") && Catch::Contains("Connection: close"));
  }
  int status = 0;
  REQUIRE(eventually([&] {
    const SocketClient third(serving.url(), "/socket");
    status = third.declined_status();
    return status != 0;
  }));
  CHECK(status == 503);
  CHECK(echoes(first));
}

TEST_CASE("a connection of the reserve is closed for another one only when the reserve is full") {
  const FullServer serving({.request = 60s, .connections = 1, .reserve = 2});
  SocketClient user(serving.url(), "/socket");
  REQUIRE(echoes(user));
  RawClient slow(serving.url());
  const SlowRequest request(slow);
  CHECK_THAT(health(serving), Catch::StartsWith("HTTP/1.1 200 "));
  CHECK_THAT(request.finish(), Catch::StartsWith("HTTP/1.1 200 "));
  const RawClient idle(serving.url()), idle_too(serving.url());
  CHECK_THAT(health(serving), Catch::StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("a user gets a place that is free while the reserve is in use") {
  const FullServer serving({.request = 60s, .connections = 2, .reserve = 16});
  SocketClient user(serving.url(), "/socket");
  REQUIRE(echoes(user));
  auto other = std::make_unique<SocketClient>(serving.url(), "/socket");
  REQUIRE(echoes(*other));
  RawClient slow(serving.url());
  const SlowRequest request(slow);
  CHECK_THAT(health(serving),
             Catch::StartsWith("HTTP/1.1 200 "));  // the slow one is in the reserve
  other.reset();
  REQUIRE(eventually([&] { return SocketClient(serving.url(), "/socket").connected(); }));
  CHECK_THAT(request.finish(), Catch::StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("connections that ask for nothing keep nobody out, and close no session") {
  const FullServer serving({.connections = 8, .reserve = 2});
  SocketClient before(serving.url(), "/socket");
  REQUIRE(echoes(before));
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 100; ++i) {
    idle.push_back(std::make_unique<RawClient>(serving.url()));
    if (i % 3 == 1) idle.back()->send("GET /healthz HT");
    if (i % 3 == 2) idle.back()->send(get_text("/healthz"));  // and stays afterwards
  }
  CHECK(ask("GET", serving.url() + "/healthz").status == 200);
  CHECK(ask("GET", serving.url() + "/v1/pool").status == 200);
  SocketClient after(serving.url(), "/socket");
  REQUIRE(after.connected());
  CHECK(echoes(after));
  CHECK(echoes(before));
  CHECK(idle.front()->receive_all().empty());  // the oldest was closed first
}

TEST_CASE("a server that can take no connection waits, and goes on") {
  asio::io_context io{1};
  HttpServer server(io, {}, {}, routes());
  io.poll();
  RawClient client(server.url());
  client.send(get_text("/healthz"));
#ifndef __SANITIZE_ADDRESS__
  {
    const NoDescriptors none;
    int turns = 0;
    while (turns < 1000 && io.poll_one() > 0) ++turns;
    CHECK(turns < 1000);
  }
#endif
  const std::jthread running([&io] { io.run(); });
  CHECK_THAT(client.receive_until("true"), Catch::StartsWith("HTTP/1.1 200 "));
  io.stop();
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("without descriptors a connection that asks for nothing makes room for another one") {
  asio::io_context io{1};
  HttpServer server(io, {}, {}, routes());
  RawClient idle(server.url());
  io.poll();
  RawClient client(server.url());
  client.send(get_text("/healthz"));
  {
    const NoDescriptors none;
    io.poll();
  }
  CHECK(idle.receive_all().empty());
  const std::jthread running([&io] { io.run(); });
  CHECK_THAT(client.receive_until("true"), Catch::StartsWith("HTTP/1.1 200 "));
  io.stop();
}

TEST_CASE("a WebSocket that finds no descriptor says that its server was not asked") {
  asio::io_context io{1};
  const std::string host = GENERATE("127.0.0.1", "worker.invalid");
  const WebSocket::Address address{.host = host, .port = "1", .target = "/"};
  WebSocket::Declined declined, later;
  const auto connect = [&](WebSocket::Declined& why) {
    auto done = asio::co_spawn(io, WebSocket::connect(address, {}, why), asio::use_future);
    io.restart();
    io.run();
    CHECK(done.get() == nullptr);
  };
  connect(later);  // and whatever it keeps open is open
  {
    const NoDescriptors none;
    connect(declined);
  }
  CHECK(declined.shortage);
  CHECK(declined.status == 0);
  CHECK_FALSE(later.shortage);
}
#endif

TEST_CASE("a server takes as many connections as the open files leave") {
  const HttpLimits limits{.connections = 4096, .reserve = 64};
  const DescriptorUse gateway{.others = 384, .per_connection = 2};
  const auto connections = [&](std::size_t files) {
    return within_open_files(limits, files, gateway).connections;
  };
  CHECK(connections(65'536) == 4096);
  CHECK(connections(1024) == 288);
  CHECK(connections(480) == 16);
  CHECK(connections(0) == 16);
  CHECK(within_open_files(limits, 1024, {.others = 128}).connections == 832);
  CHECK(within_open_files(limits, 1024, gateway).reserve == 64);
}
