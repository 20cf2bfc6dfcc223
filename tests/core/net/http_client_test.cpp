#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <latch>

#include "core/base/guarded.h"
#include "core/net/http_client.h"
#include "core/net/url.h"
#include "tests/core/expect_error.h"
#include "tests/fakes/loopback_server.h"

using namespace navtalk;
using namespace std::chrono_literals;
using test::expect_error;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;

namespace {

const HttpAnswer& answered(const HttpResult& result) {
  if (const auto* fault = std::get_if<HttpFault>(&result)) FAIL(fault->message);
  return std::get<HttpAnswer>(result);
}

const HttpFault& failed(const HttpResult& result) {
  if (std::holds_alternative<HttpAnswer>(result)) FAIL("the exchange succeeded");
  return std::get<HttpFault>(result);
}

HttpRequest get(const std::string& url) { return {.url = url, .timeout = 20s}; }
HttpRequest post(const std::string& url, const std::string& body) {
  return {.method = "POST", .url = url, .body = body, .timeout = 20s};
}

// A port on which nobody listens.
std::string dead_url() {
  const LoopbackServer server([](Connection&, const ReceivedRequest&) {});
  return server.url("/");
}

}  // namespace

TEST_CASE("an HTTP answer comes with its status, headers and body") {
  ReceivedRequest seen;
  LoopbackServer server([&](Connection& client, const ReceivedRequest& request) {
    seen = request;
    client.answer(404, "{}",
                  {{"Content-Type", "application/json"}, {"X-Twice", "a"}, {"x-twice", "b"}});
  });
  HttpClient client;
  HttpRequest request = post(server.url("/v1/thing?a=b%20c"), "{\"x\":1}");
  request.headers = {
      {"Authorization", "Bearer t"}, {"Content-Type", "application/json"}, {"X-Empty", ""}};
  const HttpResult result = client.send(request);
  CHECK(answered(result).status == 404);
  CHECK(answered(result).body == "{}");
  CHECK(answered(result).header("content-type") == "application/json");
  CHECK(answered(result).headers.count("x-twice") == 2);
  CHECK_FALSE(answered(result).header("x-none"));
  CHECK(seen.method == "POST");
  CHECK(seen.path == "/v1/thing");
  CHECK(seen.query.at("a") == "b c");
  CHECK(seen.body == "{\"x\":1}");
  CHECK(seen.header("authorization") == "Bearer t");
  CHECK(seen.headers.count("x-empty") == 1);
  CHECK(seen.headers.count("expect") == 0);
}

TEST_CASE("every HTTP request names navtalk and its version, whatever its method") {
  std::vector<ReceivedRequest> seen;
  LoopbackServer server([&](Connection& client, const ReceivedRequest& request) {
    seen.push_back(request);
    client.answer(request.method == "DELETE" ? 204 : 200);
  });
  HttpClient client;
  for (const char* method : {"GET", "POST", "DELETE", "PATCH"}) {
    CHECK(answered(client.send({.method = method, .url = server.url("/")})).body.empty());
  }
  REQUIRE(seen.size() == 4);
  for (const ReceivedRequest& request : seen) {
    CHECK_THAT(request.header("user-agent"), Catch::StartsWith("navtalk/"));
    CHECK(request.header("accept-encoding").empty());
    CHECK(request.header("content-type").empty());
  }
  CHECK(seen[2].method == "DELETE");
}

TEST_CASE("one connection serves many GET requests") {
  Guarded<std::vector<int>> connections;
  LoopbackServer server([&](Connection& client, const ReceivedRequest& request) {
    connections.with([&](auto& seen) { seen.push_back(request.connection); });
    client.answer(200, "ok");
  });
  HttpClient client;
  for (int i = 0; i < 3; ++i) answered(client.send(get(server.url("/"))));
  CHECK(connections.with([](const auto& seen) { return seen; }) == std::vector<int>{1, 1, 1});
}

TEST_CASE("a POST on a kept connection that dies is not sent a second time") {
  std::atomic<int> posts{0};
  LoopbackServer server([&](Connection& client, const ReceivedRequest& request) {
    if (request.method == "GET") {
      client.answer(200, "ok");
    } else {
      ++posts;
      client.close();  // the server has it, and says nothing
    }
  });
  HttpClient client;
  answered(client.send(get(server.url("/"))));
  const HttpResult result = client.send(post(server.url("/"), "create"));
  CHECK(failed(result).kind == HttpFault::Kind::broken);
  CHECK(failed(result).sent);
  CHECK(posts == 1);
}

TEST_CASE("what was never sent is told from what may have been acted on") {
  HttpClient client;
  const HttpResult refused = client.send(post(dead_url(), "x"));
  CHECK(failed(refused).kind == HttpFault::Kind::connect);
  CHECK_FALSE(failed(refused).sent);

  const HttpResult unknown = client.send(post("http://no-such-host.invalid/", "x"));
  CHECK(failed(unknown).kind == HttpFault::Kind::resolve);
  CHECK_FALSE(failed(unknown).sent);
}

TEST_CASE("an answer that breaks off is a fault, never a short answer") {
  const std::string bytes = GENERATE(
      "", "HT", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "\x16\x03garbage\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nno\r\n");
  LoopbackServer server([&](Connection& client, const ReceivedRequest&) {
    client.send(bytes);
    client.close();
  });
  HttpClient client;
  const HttpResult result = client.send(get(server.url("/")));
  CHECK(failed(result).kind == HttpFault::Kind::broken);
  CHECK(failed(result).sent);
}

TEST_CASE("a connection that is reset is a fault") {
  LoopbackServer server([](Connection& client, const ReceivedRequest&) { client.reset(); });
  HttpClient client;
  const HttpResult result = client.send(post(server.url("/"), "x"));
  CHECK(failed(result).kind == HttpFault::Kind::broken);
  CHECK(failed(result).sent);
}

TEST_CASE("an answer in pieces is put together") {
  LoopbackServer server([](Connection& client, const ReceivedRequest&) {
    client.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 20");
    client.wait(20ms);
    client.send("1 Created\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab");
    client.wait(20ms);
    client.send("c\r\n0\r\n\r\n");
  });
  HttpClient client;
  const HttpResult result = client.send(get(server.url("/")));
  CHECK(answered(result).status == 201);
  CHECK(answered(result).header("x-a") == "1");
  CHECK(answered(result).body == "abc");
}

TEST_CASE("an answer longer than was allowed is refused") {
  std::string headers = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 10'000; ++i) headers += "X-Header: " + std::string(40, 'x') + "\r\n";
  const std::string bytes =
      GENERATE_COPY("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'),
                    "HTTP/1.1 200 OK\r\n\r\n" + std::string(2000, 'x'), headers + "\r\n");
  LoopbackServer server([](Connection& client, const ReceivedRequest&) {
    client.answer(200, std::string(1000, 'x'));
  });
  HttpClient client;
  HttpRequest request = get(server.url("/"));
  request.max_answer = 1000;
  CHECK(answered(client.send(request)).body.size() == 1000);
}

TEST_CASE("an answer that never comes ends at the time limit") {
  LoopbackServer server([](Connection& client, const ReceivedRequest& request) {
    if (request.path == "/slow") client.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nha");
    client.hold();
  });
  const std::string path = GENERATE("/never", "/slow");
  HttpClient client;
  HttpRequest request = get(server.url(path));
  request.timeout = 150ms;
  const auto start = std::chrono::steady_clock::now();
  const HttpResult result = client.send(request);
  CHECK(failed(result).kind == HttpFault::Kind::timeout);
  CHECK(failed(result).sent);
  CHECK(std::chrono::steady_clock::now() - start < 20s);
}

TEST_CASE("a stop request ends an exchange within half a second") {
  // One of several, where the machine is busy.
  std::chrono::steady_clock::duration took = 60s;
  for (int tries = 0; tries < 5 && took >= 500ms; ++tries) {
    std::latch received(1);
    LoopbackServer server([&](Connection& client, const ReceivedRequest&) {
      received.count_down();
      client.hold();
    });
    std::stop_source stop;
    auto result = std::async(std::launch::async, [&] {
      HttpClient client;
      return client.send({.url = server.url("/"), .timeout = 60s}, stop.get_token());
    });
    received.wait();
    const auto start = std::chrono::steady_clock::now();
    stop.request_stop();
    const HttpResult outcome = result.get();
    took = std::chrono::steady_clock::now() - start;
    CHECK(failed(outcome).kind == HttpFault::Kind::stopped);
    CHECK(failed(outcome).sent);
  }
  CHECK(took < 500ms);
}

TEST_CASE("a client goes on after a fault") {
  std::atomic<int> requests{0};
  LoopbackServer server([&](Connection& client, const ReceivedRequest&) {
    if (++requests == 1) {
      client.hold();
    } else {
      client.answer(200, "fine");
    }
  });
  HttpClient client;
  HttpRequest request = get(server.url("/"));
  request.timeout = 100ms;
  failed(client.send(request));
  request.timeout = 20s;
  CHECK(answered(client.send(request)).body == "fine");
}

TEST_CASE("an answer that switches protocols ends at its headers") {
  LoopbackServer server([](Connection& client, const ReceivedRequest&) {
    client.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
        "abc\r\n\r\nframes");
    client.hold();
  });
  HttpClient client;
  const HttpResult result = client.send(get(server.url("/")));
  CHECK(answered(result).status == 101);
  CHECK(answered(result).header("sec-websocket-accept") == "abc");
  CHECK(answered(result).body.empty());
}

TEST_CASE("redirects are answers, not orders") {
  LoopbackServer server([](Connection& client, const ReceivedRequest&) {
    client.answer(302, "", {{"Location", "/elsewhere"}});
  });
  HttpClient client;
  CHECK(answered(client.send(get(server.url("/")))).status == 302);
}

TEST_CASE("a server that speaks no TLS is a TLS fault on https") {
  LoopbackServer server([](Connection&, const ReceivedRequest&) {},
                        [](Connection& client) {
                          client.send("HTTP/1.1 200 OK\r\n\r\n");
                          return false;
                        });
  HttpClient client;
  const HttpResult result = client.send(get("https" + server.url("/").substr(4)));
  CHECK(failed(result).kind == HttpFault::Kind::tls);
  CHECK_FALSE(failed(result).sent);
}

TEST_CASE("no message of the HTTP client holds a secret") {
  LoopbackServer server([](Connection& client, const ReceivedRequest&) { client.reset(); });
  HttpClient client;
  HttpRequest request = post(server.url("/private?token=hidden"), "hidden");
  request.headers = {{"Authorization", "Bearer hidden"}};
  const HttpResult result = client.send(request);
  const std::string place = "127.0.0.1:" + std::to_string(server.port());
  CHECK_THAT(failed(result).message, Catch::StartsWith(place) && !Catch::Contains("hidden"));

  for (const std::string url :
       {"hidden", "ftp://host/hidden", "http://hidden:hidden@host/", "http://hidden host/", "",
        "file:///hidden", "http://h/\r\nX: hidden"}) {
    CAPTURE(url);
    const Error error = test::error_of([&] { client.send(get(url)); });
    CHECK(error.code() == Code::invalid);
    CHECK_THAT(error.message(), !Catch::Contains("hidden"));
  }
}

TEST_CASE("a header cannot smuggle in another one") {
  HttpClient client;
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"X", "a\r\nY: b"},
                                                        {"X", "a\nb"},
                                                        {"X\r\nY", "b"},
                                                        {"X Y", "b"},
                                                        {"", "b"},
                                                        {"X:", "b"}}) {
    HttpRequest request = get("http://127.0.0.1:1/");
    request.headers = {{name, value}};
    expect_error(Code::invalid, {"header"}, [&] { client.send(request); });
  }
  HttpRequest request = get("http://127.0.0.1:1/");
  request.method = "GET /x HTTP/1.1\r\nX: y";
  expect_error(Code::invalid, {"method"}, [&] { client.send(request); });
}

TEST_CASE("the parts of an HTTP URL") {
  CHECK(parse_http_url("https://api.example/v2").authority() == "api.example:443");
  CHECK(parse_http_url("http://[::1]:2160/a?b=c").authority() == "[::1]:2160");
  CHECK(parse_http_url("http://[::1]:2160/a?b=c").path == "/a?b=c");
  CHECK(parse_http_url("http://h").path == "/");
  CHECK(parse_http_url("https://h").secure);
}

TEST_CASE("a canonical URL is its base with the port always") {
  CHECK(parse_http_url("HTTPS://Example.ORG/a/").canonical() == "https://example.org:443/a");
  CHECK(parse_http_url("http://example.org:8080").canonical() == "http://example.org:8080");
}

TEST_CASE("a host is loopback by its number or as localhost, never by the beginning of a name") {
  for (const char* const url : {"http://localhost", "http://LOCALHOST:1", "https://127.0.0.1/",
                                "http://127.255.0.9:2160", "http://[::1]:2160"}) {
    INFO(url);
    CHECK(parse_http_url(url).loopback());
  }
  for (const char* const url :
       {"http://localhost.example", "http://127.example", "http://128.0.0.1", "http://0.0.0.0",
        "http://[::]", "http://[::2]", "http://10.0.0.7"}) {
    INFO(url);
    CHECK_FALSE(parse_http_url(url).loopback());
  }
}

TEST_CASE("a base URL is written in one way, whatever it was written in") {
  for (const auto& [url, base] : {std::pair("HTTP://Example.ORG:80/", "http://example.org"),
                                  {"https://h:443/a//", "https://h/a"},
                                  {"http://h:443", "http://h:443"},
                                  {"http://[::1]:2160/A", "http://[::1]:2160/A"}}) {
    INFO(url);
    CHECK(parse_http_url(url).base() == base);
    CHECK(same_base(url, base));
  }
  CHECK_FALSE(same_base("http://h:1", "http://h:2"));
  CHECK(same_base("nonsense", "nonsense"));
  CHECK_FALSE(same_base("nonsense", "http://h"));
}
