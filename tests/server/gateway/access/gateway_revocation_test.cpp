// What becomes of sessions whose key is revoked.
#include <catch2/catch.hpp>

#include "tests/server/gateway/media_client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const NewKey k_of_acme{.tenant = {"acme"}};

Headers with_key(const std::string& key) { return {{"Authorization", "Bearer " + key}}; }

SocketClient open_with_key(const GatewayPool& pool, const std::string& key) {
  return SocketClient(pool.url(), "/v1/realtime", with_key(key));
}

// The session.ready.
nlohmann::json begin(SocketClient& client, const std::string& start = k_start) {
  REQUIRE(client.connected());
  client.send(start);
  return client.receive_type("session.ready");
}

void revoke(GatewayPool& pool, const std::string& key) {
  REQUIRE(pool.keys().revoke(key_id(key).value()));
}

void check_revoked(SocketClient& client) {
  const auto error = client.receive_type("error");
  REQUIRE(error.is_object());
  CHECK(error.at("code") == "key_revoked");
  CHECK(client.close_code() == 1008);
}

std::string code_of_resume(GatewayPool& pool, const std::string& key, const std::string& token) {
  SocketClient client = open_with_key(pool, key);
  REQUIRE(client.connected());
  client.send(start_with(token));
  return client.receive_type("error").value("code", "");
}

}  // namespace

TEST_CASE("a session ends when its key is revoked, and those of other keys go on") {
  GatewayPool pool({}, {}, k_of_acme);
  pool.add_worker(2);
  const std::string other = pool.keys().create(k_of_acme).text;
  SocketClient ends = open_with_key(pool, pool.first_key()), stays = open_with_key(pool, other);
  const std::string token = begin(ends).at("resume_token");
  begin(stays);
  revoke(pool, pool.first_key());
  check_revoked(ends);
  CHECK(eventually([&] { return pool.store().leases().size() == 1; }));
  CHECK(code_of_resume(pool, other, token) == "resume_failed");
  CHECK_THAT(pool.operate("GET", "/metrics").text,
             Catch::Contains("navtalk_gateway_revoked_total 1\n"));
  stays.send(R"({"type":"session.end"})");
  CHECK(stays.close_code() == 1000);
}

TEST_CASE("a user of a revoked key leaves the queue") {
  GatewayPool pool({}, {}, k_of_acme);
  SocketClient waiting = open_with_key(pool, pool.first_key());
  waiting.send(k_start);
  REQUIRE(waiting.receive_type("queue.update").is_object());
  revoke(pool, pool.first_key());
  check_revoked(waiting);
  CHECK(eventually([&] { return pool.store().waiters().empty(); }));
}

TEST_CASE("the session of a browser token ends with the key that issued the token") {
  GatewayPool pool({}, {}, k_of_acme);
  pool.add_worker();
  Headers asking = with_key(pool.first_key());
  asking.emplace_back("Content-Type", "application/json");
  const Got made = ask("POST", pool.url() + "/v1/client-tokens", R"({"avatar": "ada"})", asking);
  REQUIRE(made.status == 201);
  SocketClient client(
      pool.url(), "/v1/realtime",
      {{"Sec-WebSocket-Protocol", "navtalk.token." + made.body.at("token").get<std::string>()}});
  begin(client);
  revoke(pool, pool.first_key());
  check_revoked(client);
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
}

TEST_CASE("a session whose client is away ends with its key, and so does its resume token") {
  GatewayPool pool({}, {}, k_of_acme);
  pool.add_worker();
  const std::string other = pool.keys().create(k_of_acme).text;
  SocketClient away = open_with_key(pool, pool.first_key());
  const std::string token = begin(away).at("resume_token");
  away.vanish();
  revoke(pool, pool.first_key());
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
  CHECK(code_of_resume(pool, other, token) == "resume_failed");
}

TEST_CASE("a session ends with the key of the connection that resumed it") {
  GatewayPool pool({}, {}, k_of_acme);
  pool.add_worker();
  const std::string other = pool.keys().create(k_of_acme).text;
  SocketClient first = open_with_key(pool, pool.first_key()), second = open_with_key(pool, other);
  const std::string token = begin(first).at("resume_token");
  begin(second, start_with(token));
  revoke(pool, other);
  check_revoked(second);
}

TEST_CASE("a connection from before its key was revoked begins no session") {
  GatewayPool pool({}, {}, k_of_acme);
  pool.add_worker();
  SocketClient early = open_with_key(pool, pool.first_key());
  REQUIRE(early.connected());
  revoke(pool, pool.first_key());
  REQUIRE(
      eventually([&] { return open_with_key(pool, pool.first_key()).declined_status() == 401; }));
  early.send(k_start);
  check_revoked(early);
  CHECK(pool.store().leases().empty());
}

TEST_CASE("a session that began with the operator key ends when that is replaced") {
  GatewayPool pool({}, {}, k_of_acme);
  pool.add_worker();
  SocketClient client = open_with_key(pool, k_operator_key);
  begin(client);
  GatewayChanges changes;
  changes.access.operator_key = "another-key-of-these-tests";
  pool.gateway().apply(changes);
  check_revoked(client);
}
