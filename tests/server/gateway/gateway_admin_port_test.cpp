// The operators' routes on a port of their own.
#include <catch2/catch.hpp>

#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;

namespace {

GatewayOptions with_admin_port(const std::string& listen = "127.0.0.1:0") {
  GatewayOptions options;
  options.admin_listen = listen;
  return options;
}

}  // namespace

TEST_CASE("with a port of their own, operators' routes are there and nowhere else") {
  GatewayPool pool({}, with_admin_port(), NewKey{.tenant = {"acme"}});
  const std::string users = pool.url(), operators = pool.gateway().admin_url();
  REQUIRE(users != operators);
  const Headers key = {{"Authorization", "Bearer " + k_operator_key}};
  struct Row {
    const char* path;
    int of_users, of_operators, without_key;
  };
  // A key is not even judged on the users' port.
  for (const Row& row : {Row{"/v1/pool", 404, 200, 401}, Row{"/v1/pool/events", 404, 200, 401},
                         Row{"/v1/pool/cost", 404, 200, 401}, Row{"/metrics", 404, 200, 401},
                         Row{"/operator", 404, 200, 200}, Row{"/", 200, 404, 404},
                         Row{"/client/page/operator.js", 200, 200, 200},
                         Row{"/v1/avatars", 200, 404, 401}, Row{"/v1/realtime", 426, 404, 404},
                         Row{"/healthz", 200, 200, 200}, Row{"/readyz", 200, 200, 200}}) {
    INFO(row.path);
    CHECK(ask("GET", users + row.path, "", key).status == row.of_users);
    CHECK(ask("GET", operators + row.path, "", key).status == row.of_operators);
    CHECK(ask("GET", operators + row.path).status == row.without_key);
  }
  CHECK(ask("GET", users + "/v1/pool").status == 404);
  CHECK(ask("POST", users + "/v1/pool/gpus", "{}", k_json).status == 404);
  const Headers typed = {key.at(0), {"Content-Type", "application/json"}};
  CHECK(ask("POST", operators + "/v1/client-tokens", "{}", typed).status == 404);
}

TEST_CASE("sessions work beside a port for operators, and both ports end with the gateway") {
  GatewayPool pool({}, with_admin_port());
  pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_json().at("type") == "session.ready");
  pool.stop();
  CHECK(pool.ends());
}

TEST_CASE("an operators' port beyond loopback needs keys, as the other one") {
  CHECK_THROWS_WITH(GatewayPool({}, with_admin_port("0.0.0.0:0")),
                    Catch::Contains("0.0.0.0:0") && Catch::Contains("without API keys"));
}
