// Workers whose URL holds an IPv6 address.
#include <catch2/catch.hpp>

#include "core/base/error.h"
#include "scheduler/health/worker_client.h"
#include "scheduler/health/worker_tokens.h"
#include "server/http/http_server.h"
#include "tests/scheduler/health/handshake.h"
#include "tests/server/gateway/gateway_pool.h"
#include "tests/server/worker/running_worker.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;

namespace {

bool has_ipv6_loopback() {
  boost::asio::io_context io;
  try {
    const HttpServer server(io, parse_listen_address("[::1]:0"), {}, {});
    return true;
  } catch (const Error&) {
    WARN("skipped: this machine has no ::1");
    return false;
  }
}

}  // namespace

TEST_CASE("a worker at an IPv6 address is probed and holds sessions") {
  if (!has_ipv6_loopback()) return;
  EngineScript script;
  // With the token of a pool, and without one: then it looks at the Host that it is asked by.
  const bool with_token = GENERATE(true, false);
  const std::string name = "navtalk-test-of-ipv6";
  const std::string token = WorkerTokens("secret").of_worker(name);
  Running worker(script, {.listen = "[::1]:0", .token = with_token ? token : ""});
  REQUIRE(worker.url().starts_with("http://[::1]:"));
  WorkerClient client(token);
  REQUIRE(eventually([&] {
    const WorkerAnswer answer = client.health(worker.url());
    return std::holds_alternative<WorkerHealth>(answer);
  }));
  CHECK_FALSE(handshake(worker.url(), token).has_value());

  GatewayPool pool;
  const Gpu gpu = pool.add_worker_at(worker.url() + "/", name);
  SocketClient user = pool.connect();
  user.send(k_start);
  CHECK(user.receive_type("session.ready").at("avatar") == "ada");
  CHECK(pool.state_of(gpu) == State::running);
}
