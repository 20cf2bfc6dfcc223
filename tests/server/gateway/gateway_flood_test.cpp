// Clients that send more than they may: they hold up neither others nor the gateway itself.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>

#include "core/net/url.h"
#include "server/gateway/session/client.h"
#include "server/http/http_server.h"
#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

using Serve = std::function<asio::awaitable<void>(std::unique_ptr<WebSocket>)>;

// One WebSocket with both ends on this thread, so that what happens can be counted in turns.
class OneThread {
 public:
  explicit OneThread(Serve serve, SocketLimits limits = {})
      : server_(io_, {}, {}, routes(std::move(serve), limits)) {
    asio::co_spawn(io_, connect(), asio::detached);
    REQUIRE(turn_until([&] { return client_ != nullptr; }));
  }
  ~OneThread() {
    client_.reset();
    turn_until_idle();
  }

  asio::io_context& io() { return io_; }
  void send(const std::string& text) {
    Frame frame;
    frame.bytes = text;
    REQUIRE(client_->offer(std::move(frame)));
    turn_until_idle();
  }
  // Everything has happened that needs no time.
  void turn_until_idle() {
    for (int looks = 0; looks < 10; ++looks) {
      while (io_.poll_one() > 0) looks = 0;
    }
  }
  bool turn_until(const std::function<bool()>& holds) {
    return eventually([&] {
      io_.poll_one();
      return holds();
    });
  }

 private:
  static Router routes(Serve serve, const SocketLimits& limits) {
    Router router;
    router.on_socket("/socket",
                     [serve, limits](const Request&,
                                     Upgrade& upgrade) -> asio::awaitable<std::optional<Response>> {
                       auto socket = co_await upgrade.accept(limits);
                       co_await serve(std::move(socket));
                       co_return std::nullopt;
                     });
    return router;
  }
  asio::awaitable<void> connect() {
    const HttpUrl place = parse_http_url(server_.url());
    const WebSocket::Address address{
        .host = place.host, .port = std::to_string(place.port), .target = "/socket"};
    WebSocket::Declined declined;
    client_ = co_await WebSocket::connect(address, {}, declined);
  }

  asio::io_context io_{1};
  HttpServer server_;
  std::unique_ptr<WebSocket> client_;
};

double bytes_to_worker(GatewayPool& pool) {
  const std::string metrics = ask("GET", pool.url() + "/metrics").text;
  const std::string name = "\nnavtalk_gateway_to_worker_bytes_total ";
  return std::stod(metrics.substr(metrics.find(name) + name.size()));
}

}  // namespace

TEST_CASE("between two frames of a client that waits, everybody else has a turn") {
  constexpr int k_frames = 31;  // and the one that ends it
  int came = 0, looks = 0, shared_looks = 0, turns_of_others = 0;
  bool all_there = false, ended = false;
  Signal* look = nullptr;
  const auto serve = [&](std::unique_ptr<WebSocket> socket) -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Signal activity(executor);
    const auto connection = std::make_shared<ClientConnection>(executor, std::move(socket));
    Client client(connection, activity);
    connection->socket->on_activity([&] {
      ++came;
      activity.notify();
    });
    look = &activity;
    while (!all_there) co_await activity.wait();
    while (!client.left()) {
      ++looks;
      const int before = turns_of_others;
      co_await activity.wait();
      if (turns_of_others > before) ++shared_looks;
    }
    ended = true;
  };
  OneThread thread(serve);
  for (int i = 0; i < k_frames; ++i) thread.send(R"({"type":"interrupt"})");
  thread.send(R"({"type":"session.end"})");
  const auto others = [&]() -> asio::awaitable<void> {
    while (!ended) {
      ++turns_of_others;
      co_await asio::post(thread.io(), asio::use_awaitable);
    }
  };
  REQUIRE(came == k_frames + 1);
  asio::co_spawn(thread.io(), others(), asio::detached);
  all_there = true;
  look->notify();
  REQUIRE(thread.turn_until([&] { return ended; }));
  CHECK(looks >= k_frames);
  CHECK(shared_looks == looks);
}

TEST_CASE("of a client before its session no more is read than its pace allows") {
  int received = 0;
  WebSocket* at_server = nullptr;
  const auto serve = [&](std::unique_ptr<WebSocket> socket) -> asio::awaitable<void> {
    at_server = socket.get();
    while (co_await socket->receive()) ++received;
    at_server = nullptr;
  };
  SocketLimits limits;
  limits.pace = {.bytes = {.burst = 1000, .per_second = 0.001}, .patience = 1h};
  OneThread thread(serve, limits);
  for (int i = 0; i < 30; ++i) thread.send(std::string(100, 'x'));
  CHECK(received > 0);
  CHECK(received < 10);  // a frame has 106 bytes
  CHECK_FALSE(at_server->too_fast());
  at_server->read_freely();
  thread.turn_until_idle();
  CHECK(received == 30);
}

TEST_CASE("a client that floods the gateway while it waits is sent away, and no other one") {
  GatewayOptions strict;
  strict.session.before_ready = {.bytes = {.burst = 2000, .per_second = 1}, .patience = 0ms};
  GatewayPool pool({}, strict);
  SocketClient quiet = pool.connect();
  quiet.send(k_start);
  REQUIRE(quiet.receive_json().at("position") == 1);
  SocketClient flood = pool.connect();
  flood.send(k_start);
  for (int i = 0; i < 30; ++i) flood.send(R"({"type":"interrupt"})" + std::string(100, ' '));
  const auto error = flood.receive_type("error");
  CHECK(error.at("code") == "too_fast");
  CHECK(flood.close_code() == 1008);
  CHECK(ask("GET", pool.url() + "/healthz").status == 200);
  CHECK(eventually([&] { return pool.store().view().waiters.size() == 1; }));
  pool.add_worker();
  CHECK(quiet.receive_type("session.ready").at("type") == "session.ready");
}

TEST_CASE("a client that floods the gateway before its session.start is sent away") {
  GatewayOptions strict;
  strict.session.before_ready = {.bytes = {.burst = 2000, .per_second = 1}, .patience = 0ms};
  GatewayPool pool({}, strict);
  SocketClient flood = pool.connect();
  flood.send_binary(std::string(2000, 'x'));  // and the frame's own bytes
  CHECK(flood.receive_type("error").at("code") == "too_fast");
  CHECK(flood.close_code() == 1008);
}

TEST_CASE("control frames beyond their rate wait, and hold up no end of their session") {
  GatewayOptions strict;
  strict.session.control_frames = {.burst = 3, .per_second = 0.001};
  strict.session.resume_within = 0ms;
  GatewayPool pool({}, strict);
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const std::string frame = R"({"type":"interrupt"})";
  for (int i = 0; i < 6; ++i) client.send(frame);
  const auto three = static_cast<double>(3 * frame.size());
  CHECK(eventually([&] { return bytes_to_worker(pool) >= three; }));
  client.vanish();
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  CHECK(bytes_to_worker(pool) == three);
}

TEST_CASE("an interrupt overtakes hundreds of texts that wait, which are forgotten") {
  GatewayOptions strict;
  strict.session.control_frames = {.burst = 3, .per_second = 2};
  GatewayPool pool({}, strict);
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  for (int i = 0; i < 250; ++i)
    client.send(R"({"type":"input.text","text":"word )" + std::to_string(i) + R"(."})");
  client.send(R"({"type":"interrupt"})");
  const auto came = [&](const char* type) {
    return pool.asked_of(gpu).at("frames").value(type, 0);
  };
  REQUIRE(eventually([&] { return came("interrupt") == 1; }));
  const int texts = came("input.text");
  CHECK(texts < 100);
  client.send(R"({"type":"action","name":"wave"})");
  CHECK(eventually([&] { return came("action") == 1; }));
  CHECK(came("input.text") == texts);
}

TEST_CASE("session.end is seen behind hundreds of frames that wait") {
  GatewayOptions strict;
  strict.session.control_frames = {.burst = 3, .per_second = 0.001};
  GatewayPool pool({}, strict);
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  for (int i = 0; i < 300; ++i) {
    client.send(R"({"type":"keyframe"})");
    client.send(R"({"type":"action","name":")" + std::to_string(i) + R"("})");
  }
  client.send(R"({"type":"session.end"})");
  CHECK(client.close_code() == 1000);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
}

TEST_CASE("control frames without room are refused with overflow, and the session goes on") {
  GatewayOptions strict;
  strict.session.control_frames = {.burst = 3, .per_second = 0.001};
  GatewayPool pool({}, strict);
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const std::string text = R"({"type":"input.text","text":")" + std::string(4000, 'a') + R"("})";
  for (int i = 0; i < 300; ++i) client.send(text);
  CHECK(client.receive_json().at("code") == "overflow");
  client.send_binary("ab");
  client.send(R"({"type":"session.end"})");
  CHECK(client.close_code() == 1000);  // and no second error: none of them went on meanwhile
}
