#include "server/http/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>

#include "tests/server/http/client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// A server on a thread of its own, with a few routes.
class Serving {
 public:
  explicit Serving(const HttpLimits& limits = {}) : server_(io_, {}, limits, routes()) {
    thread_ = std::jthread([this] { io_.run(); });
  }
  ~Serving() { io_.stop(); }

  std::string url() const { return server_.url(); }
  // As a graceful end: returns when every connection is over.
  void stop() {
    asio::post(io_, [this] { server_.stop(); });
    thread_.join();
  }

 private:
  static Router routes() {
    Router router;
    router.header("X-Everywhere", "1");
    router.guard([](const Request& request) -> asio::awaitable<std::optional<Response>> {
      if (!request.header("x-forbidden")) co_return std::nullopt;
      co_return error_response(403, "forbidden", "not you");
    });
    router.on("GET", "/things/{id}/parts/{part}",
              [](const Request& request) -> asio::awaitable<Response> {
                co_return json_response(
                    200, {{"id", request.capture("id")}, {"part", request.capture("part")}});
              });
    router.on("POST", "/echo", [](const Request& request) -> asio::awaitable<Response> {
      Response response;
      response.body = request.body;
      co_return response;
    });
    router.on("GET", "/error", [](const Request&) -> asio::awaitable<Response> {
      throw Error(Code::no_capacity, "all taken");
    });
    router.on("GET", "/healthz", [](const Request&) -> asio::awaitable<Response> {
      co_return json_response(200, {{"well", true}});
    });
    router.on("GET", "/bug", [](const Request&) -> asio::awaitable<Response> {
      throw std::logic_error("secret detail");
    });
    router.on_socket(
        "/socket",
        [](const Request&, Upgrade& upgrade) -> asio::awaitable<std::optional<Response>> {
          const SocketLimits limits{.frame_bytes = 1000};
          const auto socket = co_await upgrade.accept(limits);
          while (socket) {
            std::optional<Frame> frame = co_await socket->receive();
            if (!frame || !co_await socket->send(std::move(*frame))) break;
          }
          co_return std::nullopt;
        });
    // Stands still with its whole loop, then says for how many milliseconds the client has not read.
    router.on_socket(
        "/stall", [](const Request&, Upgrade& upgrade) -> asio::awaitable<std::optional<Response>> {
          const auto socket = co_await upgrade.accept({});
          if (!socket || !socket->offer({.text = true, .bytes = "before"})) co_return std::nullopt;
          std::this_thread::sleep_for(1s);
          const auto unsent = duration_cast<std::chrono::milliseconds>(socket->unsent_for());
          socket->offer({.text = true, .bytes = std::to_string(unsent.count())});
          co_await socket->receive();
          co_return std::nullopt;
        });
    return router;
  }

  asio::io_context io_{1};
  HttpServer server_;
  std::jthread thread_;
};

std::string get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

int status_of(const std::string& answer) { return std::stoi(answer.substr(9, 3)); }

}  // namespace

TEST_CASE("a route's pattern captures parts of the path") {
  const Serving serving;
  const Got got = ask("GET", serving.url() + "/things/a%2Fb/parts/7");
  CHECK(got.status == 404);  // an encoded slash is a slash
  const Got found = ask("GET", serving.url() + "/things/a%20b/parts/7?x=1");
  CHECK(found.status == 200);
  CHECK(found.body == nlohmann::json({{"id", "a b"}, {"part", "7"}}));
  CHECK(found.headers.find("x-everywhere")->second == "1");
}

TEST_CASE("a path without a route, or a wrong method, is refused in JSON") {
  const Serving serving;
  const Got missing = ask("GET", serving.url() + "/nothing");
  CHECK(missing.status == 404);
  CHECK(missing.body.at("error").at("code") == "not_found");
  const Got method = ask("GET", serving.url() + "/echo");
  CHECK(method.status == 405);
  CHECK(method.headers.find("allow")->second == "POST");
  CHECK(ask("GET", serving.url() + "/socket").status == 426);
}

TEST_CASE("a WebSocket of another version, or without a key, is refused in JSON") {
  const auto [headers, status] = GENERATE(table<std::string, std::string>(
      {{"Sec-WebSocket-Version: 8", "426"},
       {"Sec-WebSocket-Version: 14", "426"},
       {"", "426"},
       {"Sec-WebSocket-Version: 13", "400"},
       {"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key:", "400"}}));
  const std::string key =
      status == "400" ? std::string() : "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const Serving serving;
  RawClient client(serving.url());
  client.send("GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n" + key + headers +
              (headers.empty() ? "" : "\r\n") + "Upgrade: websocket\r\n\r\n");
  const std::string answer = client.receive_until("}}");
  CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 " + status + " "));
  CHECK_THAT(answer, Catch::Contains(R"({"error":{"code":"usage","message":)"));
  const bool told = answer.find("\r\nSec-WebSocket-Version: 13\r\n") != std::string::npos;
  CHECK(told == (status == "426"));
}

TEST_CASE("HEAD is answered as GET, without the body") {
  const Serving serving;
  const std::string get = ask("GET", serving.url() + "/things/a/parts/7").text;
  RawClient client(serving.url());
  client.send("HEAD /things/a/parts/7 HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string head = client.receive_until("\r\n\r\n");
  CHECK_THAT(head, Catch::StartsWith("HTTP/1.1 200 "));
  CHECK_THAT(head, Catch::Contains("Content-Length: " + std::to_string(get.size()) + "\r\n"));
  // The connection goes on with the next answer, nothing between.
  client.send("HEAD /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string missing = client.receive_all();
  CHECK_THAT(missing, Catch::StartsWith("HTTP/1.1 404 "));
  CHECK_THAT(missing, Catch::EndsWith("\r\n\r\n"));
  CHECK(ask("POST", serving.url() + "/things/a/parts/7").headers.find("allow")->second ==
        "GET, HEAD");
}

TEST_CASE("an error becomes its HTTP status, any other exception a 500 without details") {
  const Serving serving;
  const Got error = ask("GET", serving.url() + "/error");
  CHECK(error.status == 503);
  CHECK(error.body.at("error").at("message") == "all taken");
  const Got bug = ask("GET", serving.url() + "/bug");
  CHECK(bug.status == 500);
  CHECK(bug.text.find("secret") == std::string::npos);
}

TEST_CASE("a guard refuses a request before any route is looked up") {
  const Serving serving;
  CHECK(ask("GET", serving.url() + "/nothing", "", {{"X-Forbidden", "1"}}).status == 403);
}

TEST_CASE("a body up to the limit is accepted, a longer one refused") {
  const Serving serving({.body_bytes = 1000});
  CHECK(ask("POST", serving.url() + "/echo", std::string(1000, 'x')).text.size() == 1000);
  CHECK(ask("POST", serving.url() + "/echo", std::string(1001, 'x')).status == 413);
}

TEST_CASE("an endless header is refused") {
  const Serving serving({.header_bytes = 1000});
  RawClient client(serving.url());
  client.send("GET / HTTP/1.1\r\nX: " + std::string(5000, 'x'));
  CHECK(status_of(client.receive_all()) == 431);
}

TEST_CASE("a request that is not HTTP is refused, and the server goes on") {
  const Serving serving;
  RawClient client(serving.url());
  client.send("\x16\x03\x01 hello\r\n\r\n");
  CHECK(status_of(client.receive_all()) == 400);
  RawClient malformed(serving.url());
  malformed.send(get("/%zz"));
  CHECK(status_of(malformed.receive_until("}}")) == 400);
  CHECK(ask("GET", serving.url() + "/things/1/parts/2").status == 200);
}

TEST_CASE("a request that is not allowed is refused before its body is sent") {
  const Serving serving;
  RawClient client(serving.url());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nX-Forbidden: 1\r\nContent-Length: 900000\r\n\r\n");
  CHECK(status_of(client.receive_all()) == 403);
  RawClient lost(serving.url());
  lost.send("POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n");
  CHECK(status_of(lost.receive_all()) == 404);
}

TEST_CASE("who waits to be asked for the body is asked, unless the request is refused") {
  const Serving serving;
  const std::string rest = "Host: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
  RawClient client(serving.url());
  client.send("POST /echo HTTP/1.1\r\n" + rest);
  CHECK(client.receive_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("body");
  CHECK(status_of(client.receive_until("body")) == 200);
  RawClient refused(serving.url());
  refused.send("POST /echo HTTP/1.1\r\nX-Forbidden: 1\r\n" + rest);
  CHECK(status_of(refused.receive_all()) == 403);
}

TEST_CASE("endless chunk extensions and trailers are refused") {
  const Serving serving;
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string endless(100'000, 'x');
  for (const std::string& body :
       {"1;a=" + endless + "\r\nx\r\n0\r\n\r\n", "1\r\nx\r\n0\r\nT: " + endless + "\r\n\r\n"}) {
    RawClient client(serving.url());
    client.send(head + body);
    CHECK(status_of(client.receive_all()) == 431);
  }
  std::string lines = "1\r\nx\r\n0\r\n";
  while (lines.size() < 100'000) lines += "T: y\r\n";
  RawClient client(serving.url());
  client.send(head + lines + "\r\n");
  CHECK(status_of(client.receive_all()) == 431);
}

TEST_CASE(
    "a request that a proxy could read in another way is refused, and what follows not read") {
  const Serving serving;
  const std::string next = "5\r\nhello\r\n0\r\n\r\n" + get("/healthz");
  const std::string requests[] = {
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
      "Transfer-Encoding: chunked\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n",
      "POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
      "GET /healthz HTTP/1.1\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\nOrigin: http://b\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nX: 1\r\n Content-Length: 3\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nX: 1\r\n\tfolded\r\n\r\n"};
  for (const std::string& request : requests) {
    CAPTURE(request);
    RawClient client(serving.url());
    client.send(request + next);
    const std::string answer = client.receive_all();
    CHECK(status_of(answer) == 400);
    CHECK(answer.find("HTTP/1.1 2") == std::string::npos);
  }
}

TEST_CASE("one connection serves request after request") {
  const Serving serving;
  RawClient client(serving.url());
  client.send(get("/things/1/parts/2") + get("/things/3/parts/4"));
  const std::string both = client.receive_until("\"3\"");
  CHECK(both.find("\"1\"") != std::string::npos);
}

TEST_CASE("a client that never finishes its request is disconnected in time") {
  const Serving serving({.request = 200ms});
  RawClient client(serving.url());
  client.send("GET / HTTP/1.1\r\nHost:");
  CHECK(client.receive_all().empty());
}

TEST_CASE("an idle connection is closed in time") {
  const Serving serving({.idle = 200ms});
  RawClient client(serving.url());
  CHECK(client.receive_all().empty());
}

TEST_CASE("frames go both ways, and one that is too long ends the connection with 1009") {
  const Serving serving;
  SocketClient client(serving.url(), "/socket");
  REQUIRE(client.connected());
  client.send("hello");
  CHECK(client.receive()->bytes == "hello");
  client.send_binary(std::string(1000, '\0'));
  const auto frame = client.receive();
  CHECK_FALSE(frame->text);
  CHECK(frame->bytes.size() == 1000);
  client.send_binary(std::string(1001, '\0'));
  CHECK(client.close_code() == 1009);
}

TEST_CASE("a server that stood still does not count that as the client's slowness") {
  const Serving serving;
  SocketClient client(serving.url(), "/stall");
  CHECK(client.receive()->bytes == "before");
  const int unsent_ms = std::stoi(client.receive()->bytes);
  CHECK(unsent_ms > 0);
  CHECK(unsent_ms <= 200);
}

TEST_CASE("a stop closes idle connections and ends the server") {
  Serving serving;
  RawClient client(serving.url());
  client.send(get("/things/1/parts/2"));
  client.receive_until("}");
  serving.stop();
  CHECK(client.receive_all().empty());
}

TEST_CASE("listen addresses are numeric and have a port") {
  CHECK(parse_listen_address("127.0.0.1:2160").port == 2160);
  CHECK(is_loopback(parse_listen_address("[::1]:0")));
  CHECK(is_loopback(parse_listen_address("127.8.0.1:1")));
  CHECK_FALSE(is_loopback(parse_listen_address("0.0.0.0:1")));
  for (const char* const text : {"", "2160", "127.0.0.1", "localhost:1",
                                 "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_listen_address(text), Error);
  }
}

TEST_CASE("an address that is in use is an error that names it") {
  const Serving serving;
  asio::io_context io;
  const ListenAddress taken = parse_listen_address(serving.url().substr(7));
  CHECK_THROWS_WITH(HttpServer(io, taken, {}, Router()),
                    Catch::Contains("cannot listen on 127.0.0.1"));
}
