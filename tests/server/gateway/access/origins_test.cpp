// Pages of other origins: who is refused, and what browsers are told.
#include "server/gateway/access/origins.h"

#include <catch2/catch.hpp>

#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;

TEST_CASE("an origin is compared by scheme, name and port") {
  CHECK(canonical_origin("https://Example.org") == "https://example.org");
  CHECK(canonical_origin("https://example.org:443") == "https://example.org");
  CHECK(canonical_origin("http://example.org:8080") == "http://example.org:8080");
  CHECK(canonical_origin("http://[::1]:80") == "http://[::1]");
  for (const char* const none :
       {"", "*", "null", "example.org", "ftp://example.org", "https://", "https://example.org/",
        "https://example.org?x", "https://a@b.org", "https://example.org/path", "file:///x",
        "https:\xff", "https://a\xff", "https://a b"}) {
    INFO(none);
    CHECK_FALSE(canonical_origin(none));
  }
  CHECK_THROWS_WITH(Origins({"https://example.org/path"}), Catch::Contains("server.allow_origins"));
}

TEST_CASE("pages of the server itself, of its list and of this machine are served, no others") {
  const Origins origins({"https://shop.example"});
  const auto refused = [&](const std::string& host, const std::string& origin) {
    return origins.refuse({.headers = {{"host", host}, {"origin", origin}}}).has_value();
  };
  CHECK_FALSE(refused("talk.example", "https://shop.example"));
  CHECK_FALSE(refused("talk.example", "https://talk.example"));
  CHECK_FALSE(refused("talk.example:2160", "http://talk.example:2160"));
  CHECK_FALSE(refused("127.0.0.1:2160", "http://localhost:8000"));
  CHECK(refused("talk.example", "http://localhost:8000"));
  CHECK(refused("talk.example", "https://talk.example:8443"));
  CHECK(refused("talk.example", "https://evil.example"));
  CHECK(refused("talk.example", "https://shop.example.evil.example"));
  CHECK(refused("talk.example", "http://shop.example"));
  CHECK(refused("talk.example", "null"));
  CHECK(refused("talk.example", "chrome-extension://talk.example"));
  CHECK(refused("talk.example", "chrome-extension://abcdefghijklmnop"));
  CHECK(refused("talk.example", "file://"));
  CHECK(refused("talk example", "https://evil example"));
  CHECK_FALSE(Origins({"*"}).refuse(
      {.headers = {{"host", "talk.example"}, {"origin", "https://evil.example"}}}));
  CHECK_FALSE(origins.refuse({.headers = {{"host", "talk.example"}}}));
}

TEST_CASE("a browser learns what an allowed page may ask for, and sees the answers") {
  GatewayOptions options;
  options.access.rules.allow_origins = {"https://shop.example"};
  GatewayPool pool({}, options, NewKey{.tenant = {"shop"}});
  const Headers page = {{"Origin", "https://shop.example"}};
  Headers question = page;
  question.emplace_back("Access-Control-Request-Method", "POST");
  const Got allowed = ask("OPTIONS", pool.url() + "/v1/client-tokens", "", question);
  CHECK(allowed.status == 204);
  CHECK(allowed.headers.find("access-control-allow-origin")->second == "https://shop.example");
  CHECK(allowed.headers.find("access-control-allow-headers")->second ==
        "Authorization, Content-Type");
  const Got answer = ask("GET", pool.url() + "/v1/nothing", "", page);
  CHECK(answer.status == 401);  // its script sees why
  CHECK(answer.headers.find("access-control-allow-origin")->second == "https://shop.example");
  CHECK(answer.headers.find("vary")->second == "Origin");
  const Got stranger =
      ask("GET", pool.url() + "/healthz", "", {{"Origin", "https://evil.example"}});
  CHECK(stranger.status == 403);
  CHECK(stranger.headers.count("access-control-allow-origin") == 0);
  CHECK(SocketClient(pool.url(), "/v1/realtime", {{"Origin", "https://evil.example"}})
            .declined_status() == 403);
}
