// What a tenant may do at most, and what it is told beyond that.
#include <catch2/catch.hpp>

#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const NewKey k_acme{.tenant = {"acme"}};

GatewayOptions limited(TenantLimits limits) {
  GatewayOptions options;
  options.access.rules.tenants[{"acme"}] = limits;
  return options;
}

SocketClient open_as(const GatewayPool& pool, const std::string& key) {
  return SocketClient(pool.url(), "/v1/realtime", {{"Authorization", "Bearer " + key}});
}

}  // namespace

TEST_CASE("a tenant has no more connections than it may, and others have theirs") {
  GatewayPool pool({}, limited({.max_connections = 1}), k_acme);
  const std::string other = pool.keys().create({.tenant = {"other"}}).text;
  {
    const SocketClient one = open_as(pool, pool.first_key());
    REQUIRE(one.connected());
    CHECK(open_as(pool, pool.first_key()).declined_status() == 429);
    CHECK(open_as(pool, other).connected());
  }
  CHECK(eventually([&] { return open_as(pool, pool.first_key()).connected(); }));
}

TEST_CASE("a tenant beyond its sessions waits, and beyond its queue is told so") {
  GatewayPool pool({}, limited({.max_sessions = 1, .max_waiting = 1}), k_acme);
  pool.add_worker(4);
  SocketClient first = open_as(pool, pool.first_key()), second = open_as(pool, pool.first_key()),
               third = open_as(pool, pool.first_key());
  first.send(k_start);
  REQUIRE(first.receive_json().at("type") == "session.ready");
  second.send(k_start);
  REQUIRE(second.receive_json().at("type") == "queue.update");
  third.send(k_start);
  const auto refused = third.receive_json();
  CHECK(refused.at("code") == "tenant_limit");
  CHECK_THAT(refused.at("message").get<std::string>(), Catch::Contains("no more than 1"));
  CHECK(third.close_code() == 1013);
  first.send(R"({"type":"session.end"})");
  CHECK(second.receive_type("session.ready").at("type") == "session.ready");
}

TEST_CASE("a tenant's messages beyond its rate wait, and its client is told once") {
  const Script script(R"({"echo": true})");
  GatewayPool pool({}, limited({.max_messages_per_s = 5}), k_acme);
  pool.add_worker();
  SocketClient client = open_as(pool, pool.first_key());
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  constexpr int k_messages = 30;  // 20 may come at once
  for (int i = 0; i < k_messages; ++i) client.send_binary("sound");
  int echoed = 0, told = 0;
  while (echoed < k_messages) {
    const auto frame = client.receive();
    REQUIRE(frame);
    if (!frame->text) {
      ++echoed;
    } else if (nlohmann::json::parse(frame->bytes).at("code") == "tenant_limit") {
      ++told;
    }
  }
  CHECK(told == 1);
}

TEST_CASE("new limits hold for those who come from then on") {
  GatewayPool pool({}, limited({}), k_acme);
  const SocketClient one = open_as(pool, pool.first_key());
  REQUIRE(one.connected());
  GatewayChanges changes;
  changes.access.operator_key = "another-key-of-these-tests";
  changes.access.tenants[{"acme"}] = {.max_connections = 1};
  pool.gateway().apply(changes);
  CHECK(eventually([&] { return open_as(pool, pool.first_key()).declined_status() == 429; }));
  CHECK(pool.operate("GET", "/v1/pool").status == 401);  // with the operator key from before
}
