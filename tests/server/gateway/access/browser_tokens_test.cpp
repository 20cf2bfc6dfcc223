// Browser tokens: what they open, once, and what each faulty one is answered.
#include <catch2/catch.hpp>

#include "core/text/rfc3339.h"
#include "server/gateway/access/bound_start.h"
#include "server/gateway/access/offered_token.h"
#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const NewKey k_shop{.tenant = {"shop"}};

GatewayOptions with_pages() {
  GatewayOptions options;
  options.access.token_secret = "a-secret-of-these-tests";
  options.access.rules.allow_origins = {"https://shop.example", "https://other.example"};
  return options;
}

Got token_for(GatewayPool& pool, const std::string& body) {
  return ask(
      "POST", pool.url() + "/v1/client-tokens", body,
      {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + pool.first_key()}});
}

std::string fresh_token(GatewayPool& pool, const std::string& body = R"({"avatar": "ada"})") {
  const Got got = token_for(pool, body);
  REQUIRE(got.status == 201);
  return got.body.at("token");
}

SocketClient open_with(const GatewayPool& pool, const std::string& token,
                       const std::string& origin = "") {
  Headers headers = {{"Sec-WebSocket-Protocol", "navtalk.token." + token}};
  if (!origin.empty()) headers.emplace_back("Origin", origin);
  return SocketClient(pool.url(), "/v1/realtime", headers);
}

// What the gateway says to session.start: the frame's type, or the error's code and message.
nlohmann::json started(SocketClient& client) {
  REQUIRE(client.connected());
  client.send(R"({"type":"session.start","avatar":"theo"})");
  return client.receive_json();
}

}  // namespace

TEST_CASE("a browser token opens one session, with its avatar, and no second one") {
  GatewayPool pool({}, with_pages(), k_shop);
  pool.add_worker(2);
  const Got got = token_for(pool, R"({"avatar": "ada", "ttl_s": 30, "max_session_s": 600})");
  REQUIRE(got.status == 201);
  CHECK(got.headers.find("cache-control")->second == "no-store");
  CHECK(parse_rfc3339(got.body.at("expires_at")) > std::chrono::system_clock::now());
  const std::string token = got.body.at("token");
  SocketClient first = open_with(pool, token);
  const auto ready = started(first);
  CHECK(ready.at("type") == "session.ready");
  CHECK(ready.at("avatar") == "ada");
  CHECK(pool.store().leases().at(0).tenant == TenantId{"shop"});
  SocketClient second = open_with(pool, token);
  const auto refused = started(second);
  CHECK(refused.at("code") == "unauthorised");
  CHECK_THAT(refused.at("message").get<std::string>(), Catch::Contains("used before"));
  CHECK(second.close_code() == 1008);
  CHECK(pool.store().leases().size() == 1);
}

TEST_CASE("the subprotocol of a browser token is answered, and a token in the URL works too") {
  GatewayPool pool({}, with_pages(), k_shop);
  pool.add_worker();
  const std::string token = fresh_token(pool);
  RawClient raw(pool.url());
  raw.send(
      "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
      "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Sec-WebSocket-Protocol: other, navtalk.token." +
      token + "\r\n\r\n");
  const std::string answer = raw.receive_until("\r\n\r\n");
  CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 101"));
  CHECK_THAT(answer, Catch::Contains("Sec-WebSocket-Protocol: navtalk.token." + token + "\r\n"));
  SocketClient client(pool.url(), "/v1/realtime?token=" + token);
  CHECK(started(client).at("type") == "session.ready");
}

TEST_CASE("a browser token that was changed, or made elsewhere, opens no connection") {
  GatewayPool pool({}, with_pages(), k_shop);
  const std::string token = fresh_token(pool);
  std::string changed = token;
  changed[3] = changed[3] == 'A' ? 'B' : 'A';
  CHECK(open_with(pool, changed).declined_status() == 401);
  CHECK(open_with(pool, "").declined_status() == 401);
  const ClientToken foreign{.id = "x",
                            .key = *key_id(pool.first_key()),
                            .tenant = {"shop"},
                            .avatar = "ada",
                            .expires_at = pool.keys().now() + 60s};
  CHECK(open_with(pool, ClientTokenSigner("another pool").sign(foreign)).declined_status() == 401);
}

TEST_CASE("a browser token that has expired is told so") {
  GatewayPool pool({}, with_pages(), k_shop);
  const ClientToken old{.id = "x",
                        .key = *key_id(pool.first_key()),
                        .tenant = {"shop"},
                        .avatar = "ada",
                        .expires_at = pool.keys().now() - 1s};
  SocketClient client = open_with(pool, ClientTokenSigner("a-secret-of-these-tests").sign(old));
  const auto refused = started(client);
  CHECK(refused.at("code") == "unauthorised");
  CHECK_THAT(refused.at("message").get<std::string>(), Catch::Contains("expired"));
}

TEST_CASE("a browser token ends with its key") {
  GatewayPool pool({}, with_pages(), k_shop);
  const std::string token = fresh_token(pool);
  REQUIRE(pool.keys().revoke(*key_id(pool.first_key())));
  CHECK(eventually([&] { return open_with(pool, token).declined_status() == 401; }));
}

TEST_CASE("a browser token of one page opens nothing from another, and stays good") {
  GatewayPool pool({}, with_pages(), k_shop);
  pool.add_worker();
  const std::string token =
      fresh_token(pool, R"({"avatar": "ada", "origin": "https://Shop.example:443"})");
  CHECK(open_with(pool, token, "https://other.example").declined_status() == 403);
  CHECK(open_with(pool, token, "https://evil.example").declined_status() == 403);
  CHECK(open_with(pool, token).declined_status() == 403);
  SocketClient client = open_with(pool, token, "https://shop.example");
  CHECK(started(client).at("type") == "session.ready");
}

TEST_CASE("a token is made for a tenant's key, with values in their ranges") {
  GatewayPool pool({}, with_pages(), k_shop);
  for (const char* const body :
       {"{}", R"({"avatar": ""})", R"({"avatar": 1})", R"({"avatar": "a", "ttl_s": 0})",
        R"({"avatar": "a", "ttl_s": 601})", R"({"avatar": "a", "ttl_s": "60"})",
        R"({"avatar": "a", "max_session_s": -1})", R"({"avatar": "a", "origin": "shop"})",
        R"({"avatar": "a", "origin": "https://x/y"})"}) {
    INFO(body);
    CHECK(token_for(pool, body).status == 400);
  }
  CHECK(pool.operate("POST", "/v1/client-tokens", R"({"avatar": "ada"})", k_json).status == 403);
  CHECK(ask("POST", pool.url() + "/v1/client-tokens", R"({"avatar": "ada"})", k_json).status ==
        401);
}

TEST_CASE("a session ends when its browser token allows no more time") {
  GatewayPool pool({}, with_pages(), k_shop);
  const Gpu gpu = pool.add_worker();
  SocketClient client =
      open_with(pool, fresh_token(pool, R"({"avatar": "ada", "max_session_s": 1})"));
  REQUIRE(started(client).at("type") == "session.ready");
  CHECK(client.receive_type("error").at("code") == "session_over");
  CHECK(client.close_code() == 1008);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
}

TEST_CASE("a second session.start is refused, and the session goes on") {
  const Script script(R"({"echo": true})");
  GatewayPool pool({}, with_pages(), k_shop);
  pool.add_worker();
  SocketClient client = open_with(pool, fresh_token(pool));
  REQUIRE(started(client).at("type") == "session.ready");
  // "session.start", written otherwise.
  client.send(R"({"type":"session\u002estart","avatar":"theo"})");
  CHECK(client.receive_type("error").at("code") == "usage");
  client.send_binary("sound");
  const auto echoed = client.receive();
  REQUIRE(echoed);
  CHECK(echoed->bytes == "sound");
}

TEST_CASE("without keys browser tokens work as well, until there is a key") {
  GatewayPool pool({}, with_pages());
  pool.add_worker();
  const Got got = ask("POST", pool.url() + "/v1/client-tokens", R"({"avatar": "ada"})", k_json);
  REQUIRE(got.status == 201);
  const std::string token = got.body.at("token");
  SocketClient client = open_with(pool, token);
  CHECK(started(client).at("avatar") == "ada");
  pool.keys().create(k_shop);
  CHECK(eventually([&] { return open_with(pool, token).declined_status() == 401; }));
}

TEST_CASE("the avatar of a permit stands over that of session.start, whose other members stay") {
  SessionPermit permit;
  const std::string start = R"({"type":"session.start","avatar":"theo","audio":{"rate":8000}})";
  CHECK(bound_start(start, permit) == start);
  permit.avatar = "ada";
  CHECK(nlohmann::json::parse(bound_start(start, permit)) ==
        nlohmann::json::parse(R"({"type":"session.start","avatar":"ada","audio":{"rate":8000}})"));
  CHECK(nlohmann::json::parse(bound_start(R"({"type":"session.start"})", permit)).at("avatar") ==
        "ada");
}

TEST_CASE("a token is found among other subprotocols") {
  const auto offered = [](const std::string& value) {
    return offered_token({.headers = {{"sec-websocket-protocol", value}}});
  };
  CHECK(offered("a, navtalk.token.x.y , b")->text == "x.y");
  CHECK(offered("a, navtalk.token.x.y , b")->protocol == "navtalk.token.x.y");
  CHECK_FALSE(offered("a, b"));
  CHECK_FALSE(offered(""));
  CHECK_FALSE(offered(","));
}
