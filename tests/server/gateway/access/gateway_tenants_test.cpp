// What a tenant may do at most, and what it is told beyond that.
#include <catch2/catch.hpp>

#include "server/gateway/session/input_queue.h"
#include "tests/server/gateway/media_client.h"

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

// When those who left are gone.
std::unique_ptr<SocketClient> open_at_last(const GatewayPool& pool) {
  std::unique_ptr<SocketClient> client;
  const Headers headers = {{"Authorization", "Bearer " + pool.first_key()}};
  REQUIRE(eventually([&] {
    client = std::make_unique<SocketClient>(pool.url(), "/v1/realtime", headers);
    return client->connected();
  }));
  return client;
}

// The answer to the first frame.
nlohmann::json answer_of(SocketClient& client, const std::string& start = k_start) {
  client.send(start);
  return client.receive_json();
}

nlohmann::json answer_to(const GatewayPool& pool, const std::string& start = k_start) {
  return answer_of(*open_at_last(pool), start);
}

bool is_refused(const nlohmann::json& frame) {
  return frame.at("type") == "error" && frame.at("code") == "tenant_limit";
}

}  // namespace

TEST_CASE("a tenant has no more connections than it may, and others have theirs") {
  GatewayPool pool({}, limited({.max_connections = 1}), k_acme);
  const std::string other = pool.keys().create({.tenant = {"other"}}).text;
  {
    SocketClient one = open_as(pool, pool.first_key());
    // It may be one that comes back.
    SocketClient second = open_as(pool, pool.first_key());
    REQUIRE(second.connected());
    CHECK(open_as(pool, pool.first_key()).declined_status() == 429);
    CHECK(open_as(pool, other).connected());
    const auto refusal = answer_of(second);
    CHECK(is_refused(refusal));
    CHECK(refusal.at("retry_after") == 10);
    CHECK(second.close_code() == 1013);
    CHECK(answer_of(one).at("type") == "queue.update");
  }
  CHECK(eventually([&] { return !is_refused(answer_to(pool)); }));
}

TEST_CASE("a client whose connection is half open comes back although its tenant has no more") {
  // Without media, which nobody reads here: a client that falls behind with them is sent away.
  GatewayPool pool({}, limited({.max_connections = 1}), k_acme);
  pool.add_worker();
  std::vector<std::unique_ptr<SocketClient>> clients;
  std::string start = k_start;
  for (int times = 0; times < 3; ++times) {
    clients.push_back(open_at_last(pool));
    const auto ready = answer_of(*clients.back(), start);
    REQUIRE(ready.at("type") == "session.ready");
    start = start_with(ready.at("resume_token"));
    CHECK(is_refused(answer_to(pool)));
  }
  clients.back()->send(R"({"type":"session.end"})");
  CHECK(clients.back()->close_code() == 1000);
  CHECK(eventually([&] { return !is_refused(answer_to(pool)); }));
}

TEST_CASE("a client whose seat others took comes back when they are gone") {
  const Script script(k_media);
  GatewayPool pool({}, limited({.max_connections = 1}), k_acme);
  pool.add_worker();
  std::string resume;
  {
    SocketClient client = open_as(pool, pool.first_key());
    const auto ready = answer_of(client);
    REQUIRE(ready.at("type") == "session.ready");
    resume = start_with(ready.at("resume_token"));
    client.vanish();
  }
  std::unique_ptr<SocketClient> other;
  REQUIRE(eventually([&] {
    other = open_at_last(pool);
    return !is_refused(answer_of(*other));
  }));
  CHECK(is_refused(answer_to(pool, resume)));
  other.reset();
  CHECK(eventually([&] { return answer_to(pool, resume).at("type") == "session.ready"; }));
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

TEST_CASE("an interrupt and the end of a session do not wait behind the messages of their tenant") {
  const Script script(R"({"echo": true})");
  GatewayPool pool({}, limited({.max_messages_per_s = 0.001}), k_acme);  // one at once
  const Gpu gpu = pool.add_worker();
  SocketClient client = open_as(pool, pool.first_key());
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const bool too_much = GENERATE(false, true);
  const std::size_t many = too_much ? InputQueue::k_most_sounds + 200 : 100;
  for (std::size_t i = 0; i < many; ++i) client.send_binary("sound");
  client.send(R"({"type":"interrupt"})");
  CHECK(eventually([&] { return pool.asked_of(gpu).at("frames").value("interrupt", 0) == 1; }));
  for (int i = 0; i < 100; ++i) client.send_binary("sound");
  client.send(R"({"type":"session.end"})");
  int told = 0;
  while (const auto frame = client.receive()) {
    if (frame->text && nlohmann::json::parse(frame->bytes).at("code") == "tenant_limit") ++told;
  }
  CHECK(told == (too_much ? 2 : 1));
  CHECK(client.close_code() == 1000);
  CHECK(pool.asked_of(gpu).at("media_bytes") == 5);
}

TEST_CASE("new limits hold for those who come from then on") {
  GatewayPool pool({}, limited({}), k_acme);
  const SocketClient one = open_as(pool, pool.first_key());
  const SocketClient two = open_as(pool, pool.first_key());
  REQUIRE(two.connected());
  GatewayChanges changes;
  changes.access.operator_key = "another-key-of-these-tests";
  changes.access.tenants[{"acme"}] = {.max_connections = 1};
  pool.gateway().apply(changes);
  CHECK(eventually([&] { return is_refused(answer_to(pool)); }));
  CHECK(pool.operate("GET", "/v1/pool").status == 401);  // with the operator key from before
}
