// A gateway that is out of descriptors: its own fault, never that of a GPU.
#include <catch2/catch.hpp>

#include "scheduler/pool/faults/session_faults.h"
#include "tests/no_descriptors.h"
#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

GatewayOptions tries(int times) {
  GatewayOptions options;
  options.session.shortage_tries = times;
  options.session.after_shortage = 10ms;
  return options;
}

std::uint64_t epoch_of(GatewayPool& pool, const Gpu& gpu) {
  return pool.store().find(gpu.id)->epoch;
}

// The test's own calls of the store may find no descriptor either.
bool eventually_in_store(const std::function<bool()>& holds) {
  return eventually([&] {
    try {
      return holds();
    } catch (const Error&) {
      return false;
    }
  });
}

// As if nothing had happened to it.
void check_unharmed(GatewayPool& pool, const Gpu& gpu) {
  CHECK(pool.state_of(gpu) != State::failed);
  CHECK(pool.last_error_of(gpu).empty());
  CHECK(pool.store().find(gpu.id)->misses == 0);
}

}  // namespace

TEST_CASE("a user waits for the gateway's descriptors, and the slot is free meanwhile") {
  GatewayPool pool({}, tries(1'000'000));
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  {
    const NoDescriptors none;
    client.send(k_start);
    // Every lease has an epoch of its own.
    REQUIRE(eventually_in_store([&] { return epoch_of(pool, gpu) >= 3; }));
    CHECK(eventually_in_store([&] { return pool.store().leases().empty(); }));
  }
  CHECK(client.receive_type("session.ready").at("type") == "session.ready");
  check_unharmed(pool, gpu);
  CHECK_FALSE(k_session_faults.read(pool.store()));
  const std::string metrics = ask("GET", pool.url() + "/metrics").text;
  CHECK_THAT(metrics, Catch::Contains("navtalk_gateway_connect_failed_total 0"));
  CHECK_THAT(metrics, !Catch::Contains("navtalk_gateway_shortages_total 0"));
}

TEST_CASE("a gateway that stays without descriptors sends its users away, and blames no GPU") {
  GatewayPool pool({}, tries(3));
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect(), next = pool.connect();
  {
    const NoDescriptors none;
    client.send(k_start);
    const auto error = client.receive_type("error");
    CHECK(error.at("code") == "no_capacity");
    CHECK(error.at("retry_after") == 10);
    CHECK(client.close_code() == 1013);
  }
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
  CHECK(pool.store().view().waiters.empty());
  check_unharmed(pool, gpu);
  next.send(k_start);
  CHECK(next.receive_type("session.ready").at("type") == "session.ready");
}

TEST_CASE("a worker that the gateway has no descriptor to ask is not taken for dead") {
  const Script script(R"({"cut": true})");
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  const int lowest = NoDescriptors::lowest_free();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_type("session.ready").at("type") == "session.ready");
  {
    const NoDescriptors none(lowest);
    client.send_binary("cut");
    REQUIRE(client.receive_type("error").at("code") == "worker_lost");
    // More time than two questions take.
    std::optional<TimePoint> until;
    REQUIRE(eventually_in_store([&] {
      if (!until) until = pool.store().now() + 1500ms;
      return pool.store().now() > *until;
    }));
  }
  // It is asked when that is possible again, and answers well.
  CHECK(eventually([&] { return k_session_faults.read(pool.store()).has_value(); }));
  check_unharmed(pool, gpu);
}
