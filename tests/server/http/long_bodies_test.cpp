#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <list>

#include "server/http/http_server.h"
#include "tests/server/http/client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr std::uint64_t k_longest = 4 << 20;

// A server on a thread of its own, whose route takes long bodies; a header says whose they are.
class LongBodyServer {
 public:
  explicit LongBodyServer(const HttpLimits& limits = {}) : server_(io_, {}, limits, routes()) {
    thread_ = std::jthread([this] { io_.run(); });
  }
  ~LongBodyServer() { io_.stop(); }

  std::string url() const { return server_.url(); }
  // Of a body that does not come.
  RawClient& announce(const std::string& owner, std::uint64_t bytes = k_longest) {
    RawClient& client = clients_.emplace_back(url());
    client.send("POST /long HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nX-Owner: " + owner +
                "\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n");
    return client;
  }
  int answer(const std::string& owner, std::uint64_t bytes = k_longest) {
    answer_ = announce(owner, bytes).receive_until("\r\n\r\n");
    return std::stoi(answer_.substr(9, 3));
  }
  const std::string& last_answer() const { return answer_; }
  void hang_up() { clients_.clear(); }

 private:
  static asio::awaitable<std::variant<std::string, Response>> owner_of(const Request& request) {
    const auto owner = request.header("x-owner");
    if (!owner) co_return error_response(401, "unauthorized", "who are you?");
    co_return *owner;
  }
  static Router routes() {
    Router router;
    router.on("POST", "/long", [](const Request& request) -> asio::awaitable<Response> {
      co_return json_response(200, {{"bytes", request.body.size()}});
    });
    router.take_long_bodies(
        "POST", "/long",
        {.bytes = k_longest, .room = std::make_shared<BodyRoom>(4 * k_longest), .owner = owner_of});
    return router;
  }

  asio::io_context io_{1};
  HttpServer server_;
  std::jthread thread_;
  std::list<RawClient> clients_{};
  std::string answer_{};
};

}  // namespace

TEST_CASE("who uploads slowly leaves room to others") {
  LongBodyServer server;
  CHECK(server.answer("ada") == 100);
  CHECK(server.answer("ada") == 100);
  CHECK(server.answer("ada") == 429);
  CHECK_THAT(server.last_answer(), Catch::Contains("Retry-After: 5\r\n"));
  CHECK(server.answer("bob") == 100);
  CHECK(server.answer("bob") == 429);  // less than half of the room is free
  CHECK(server.answer("eve") == 100);
  CHECK(server.answer("joe") == 503);
  CHECK_THAT(server.last_answer(), Catch::Contains("Retry-After: 5\r\n"));
  server.hang_up();
  CHECK(eventually([&] { return server.answer("joe") == 100; }));
}

TEST_CASE("a short body needs no room, and nobody who answers for it") {
  LongBodyServer server;
  for (const char* owner : {"ada", "ada", "bob", "eve"}) CHECK(server.answer(owner) == 100);
  CHECK(ask("POST", server.url() + "/long", std::string(1 << 20, 'x')).body.at("bytes") == 1 << 20);
  CHECK(ask("POST", server.url() + "/long", std::string((1 << 20) + 1, 'x')).status == 401);
  CHECK(server.answer("joe", (1 << 20) + 1) == 503);
}

TEST_CASE("a long body that comes too slowly is refused, and its room is free again") {
  LongBodyServer server({.piece_bytes = 1 << 20, .piece = 100ms});
  for (const std::string bytes : {"2097152", "5"}) {
    RawClient client(server.url());
    client.send("POST /long HTTP/1.1\r\nHost: x\r\nX-Owner: ada\r\nContent-Length: " + bytes +
                "\r\n\r\nx");
    const std::string answer = client.receive_all();
    CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 408 "));
    CHECK_THAT(answer, Catch::Contains("too_slow"));
  }
  for (int i = 0; i < 5; ++i) {
    RawClient& slow = server.announce("ada");
    CHECK_THAT(slow.receive_until("too_slow"), Catch::Contains("HTTP/1.1 408 "));
  }
}
