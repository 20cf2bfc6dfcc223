// API keys at the gateway: who may ask for what, and when a key counts no more.
#include <catch2/catch.hpp>

#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const NewKey k_user{.tenant = {"acme"}};
const NewKey k_admin{.tenant = {"acme"}, .role = Role::admin};

Headers bearing(const std::string& key) { return {{"Authorization", "Bearer " + key}}; }

std::string code_of(const Got& got) { return got.body.at("error").at("code"); }

}  // namespace

TEST_CASE("with keys every route asks for the role that it needs") {
  GatewayPool pool({}, {}, k_user);
  const std::string admin = pool.keys().create(k_admin).text;
  const std::string& user = pool.first_key();
  struct Row {
    const char* method;
    const char* path;
    int nobody, user, admin, operators;
  };
  const Row rows[] = {{"GET", "/healthz", 200, 200, 200, 200},
                      {"GET", "/readyz", 200, 200, 200, 200},
                      {"GET", "/metrics", 401, 403, 200, 200},
                      {"GET", "/v1/pool", 401, 403, 200, 200},
                      {"GET", "/v1/pool/events", 401, 403, 200, 200},
                      {"GET", "/v1/pool/cost", 401, 403, 200, 200},
                      {"GET", "/v1/nothing", 401, 404, 404, 404},
                      {"GET", "/v1/client-tokens", 401, 405, 405, 405},
                      {"GET", "/v1/realtime", 426, 426, 426, 426},
                      {"GET", "/a-page", 404, 404, 404, 404}};
  for (const Row& row : rows) {
    INFO(row.method << " " << row.path);
    const std::string url = pool.url() + row.path;
    CHECK(ask(row.method, url).status == row.nobody);
    CHECK(ask(row.method, url, "", bearing(user)).status == row.user);
    CHECK(ask(row.method, url, "", bearing(admin)).status == row.admin);
    CHECK(ask(row.method, url, "", bearing(k_operator_key)).status == row.operators);
  }
  const Got refused = ask("GET", pool.url() + "/metrics");
  CHECK(code_of(refused) == "unauthorised");
  CHECK(refused.headers.find("www-authenticate")->second == "Bearer");
  CHECK(code_of(ask("GET", pool.url() + "/metrics", "", bearing(user))) == "forbidden");
}

TEST_CASE("a session opens with a key, as its tenant, and with no other credential") {
  GatewayPool pool({}, {}, k_user);
  pool.add_worker();
  const auto declined = [&](const Headers& headers) {
    return SocketClient(pool.url(), "/v1/realtime", headers).declined_status();
  };
  CHECK(declined({}) == 401);
  CHECK(declined(bearing("wrong")) == 401);
  CHECK(declined(bearing(make_key_text())) == 401);
  std::string changed = pool.first_key();
  changed.back() = changed.back() == '0' ? '1' : '0';
  CHECK(declined(bearing(changed)) == 401);
  CHECK(declined({{"Authorization", "Basic " + pool.first_key()}}) == 401);
  SocketClient client(pool.url(), "/v1/realtime", bearing(pool.first_key()));
  REQUIRE(client.connected());
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  REQUIRE(pool.store().leases().size() == 1);
  CHECK(pool.store().leases()[0].tenant == TenantId{"acme"});
}

TEST_CASE("a GPU of one tenant serves no key of another") {
  GatewayPool pool({.queue_limit = 0}, {}, k_user);
  Gpu gpu = pool.add_worker();
  REQUIRE(pool.store().change({.id = gpu.id, .version = gpu.version, .draining = true},
                              {"test", "only the other one is left"}));
  const Gpu own = pool.add_worker_of({"acme"});
  const std::string other = pool.keys().create({.tenant = {"other"}}).text;
  SocketClient stranger(pool.url(), "/v1/realtime", bearing(other));
  REQUIRE(stranger.connected());
  stranger.send(k_start);
  CHECK(stranger.receive_type("error").at("code") == "no_capacity");
  SocketClient client(pool.url(), "/v1/realtime", bearing(pool.first_key()));
  client.send(k_start);
  CHECK(client.receive_json().at("type") == "session.ready");
  CHECK(pool.state_of(own) == State::running);
}

TEST_CASE("a key that was revoked or has expired is told so within half a minute") {
  GatewayPool pool({}, {}, k_user);
  const auto answer = [&](const std::string& key) {
    return ask("GET", pool.url() + "/v1/nothing", "", bearing(key));
  };
  CHECK(answer(pool.first_key()).status == 404);
  REQUIRE(pool.keys().revoke(*key_id(pool.first_key())));
  CHECK(eventually([&] { return answer(pool.first_key()).status == 401; }));
  CHECK_THAT(answer(pool.first_key()).text, Catch::Contains("was revoked"));
  const std::string brief = pool.keys().create({.tenant = {"acme"}, .lifetime = Duration(1)}).text;
  CHECK(eventually([&] {
    const Got got = answer(brief);
    return got.status == 401 && got.text.find("has expired") != std::string::npos;
  }));
}

TEST_CASE("the first key of a pool closes a gateway that runs, and revoking it opens nothing") {
  GatewayPool pool;
  CHECK_FALSE(pool.gateway().keys_required());
  CHECK(ask("GET", pool.url() + "/metrics").status == 200);
  const std::string key = pool.keys().create(k_admin).text;
  CHECK(eventually([&] { return ask("GET", pool.url() + "/metrics").status == 401; }));
  CHECK(ask("GET", pool.url() + "/metrics", "", bearing(key)).status == 200);
  REQUIRE(pool.keys().revoke(*key_id(key)));
  CHECK(eventually(
      [&] { return ask("GET", pool.url() + "/metrics", "", bearing(key)).status == 401; }));
  CHECK(ask("GET", pool.url() + "/metrics").status == 401);
}

TEST_CASE(
    "a gateway listens beyond loopback with keys alone, and in clear text where that is allowed") {
  const TemporaryDirectory folder;
  const auto backend = StoreBackend::open("sqlite:" + (folder / "pool.db").native());
  const auto store = PoolStore::open("sqlite:" + (folder / "pool.db").native());
  KeyStore keys(backend);
  Supply supply(*store, {});
  DemandTracker demand_tracker(*store);
  Allocator allocator(*store, supply, demand_tracker, {});
  // An address that this machine does not have: nothing listens beyond loopback in this test.
  GatewayOptions options{.listen = "192.0.2.1:0"};
  options.access.keys = &keys;
  const auto start = [&] { Gateway(*store, allocator, options); };
  CHECK_THROWS_WITH(start(), Catch::Contains("loopback only") && Catch::Contains("key create"));
  keys.create(k_user);
  CHECK_THROWS_WITH(start(), Catch::Contains("without TLS"));
  options.allow_http = true;
  CHECK_THROWS_WITH(start(), Catch::Contains("cannot listen on 192.0.2.1:0: "));
}

TEST_CASE("denials are counted by reason") {
  GatewayPool pool({}, {}, k_user);
  ask("GET", pool.url() + "/metrics");
  ask("GET", pool.url() + "/healthz", "", {{"Origin", "https://evil.example"}});
  const std::string page = pool.operate("GET", "/metrics").text;
  CHECK_THAT(page, Catch::Contains(R"(navtalk_gateway_denied_total{reason="key"} 1)"));
  CHECK_THAT(page, Catch::Contains(R"(navtalk_gateway_denied_total{reason="origin"} 1)"));
}
