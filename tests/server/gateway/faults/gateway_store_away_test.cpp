// What users are told while the pool's store does not answer, and what they still have afterwards.
#include <catch2/catch.hpp>

#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// The next place in the queue that says, or no longer says, that the store is away.
nlohmann::json next_place(SocketClient& client, bool away) {
  nlohmann::json update = client.receive_type("queue.update");
  while (!update.is_null() && update.contains("code") != away)
    update = client.receive_type("queue.update");
  REQUIRE_FALSE(update.is_null());
  return update;
}

}  // namespace

TEST_CASE("who comes while the store is away is told so, and served when it is back") {
  GatewayPool pool;
  pool.add_worker();
  pool.set_away(true);
  SocketClient client = pool.connect();
  client.send(k_start);
  const auto update = client.receive_json();
  CHECK(update.at("type") == "queue.update");
  CHECK(update.at("code") == "store_unavailable");
  CHECK(update.at("position").is_null());
  CHECK(update.at("eta_s").is_null());
  CHECK_THAT(update.at("message").get<std::string>(), Catch::Contains("store cannot be reached"));
  pool.set_away(false);
  CHECK(client.receive_json().at("type") == "session.ready");
}

TEST_CASE("who comes while the store holds its answer back is told so, and served when it comes") {
  GatewayPool pool;
  pool.add_worker();
  pool.set_claims(AwayStore::Answers::are_held);
  SocketClient client = pool.connect();
  client.send(k_start);
  const auto update = client.receive_json();  // the claim has not ended
  pool.set_claims(AwayStore::Answers::come);
  CHECK(update.at("type") == "queue.update");
  CHECK(update.at("code") == "store_unavailable");
  CHECK(client.receive_json().at("type") == "session.ready");
}

TEST_CASE(
    "who waits is told once that the store is away, keeps the place, and is told that it is back") {
  GatewayPool pool;
  SocketClient first = pool.connect();
  first.send(k_start);
  REQUIRE(first.receive_json().at("position") == 1);
  SocketClient second = pool.connect();
  second.send(k_start);
  REQUIRE(second.receive_json().at("position") == 2);
  pool.set_away(true);
  const auto update = next_place(second, true);
  CHECK(update.at("position") == 2);
  CHECK_THAT(update.at("message").get<std::string>(),
             Catch::Contains("place in the queue is kept"));
  const int failed = pool.failed_calls();
  REQUIRE(eventually([&] { return pool.failed_calls() > failed + 4; }));
  pool.set_away(false);
  // The next frame, since nothing was said twice.
  const auto back = second.receive_json();
  CHECK_FALSE(back.contains("code"));
  CHECK(back.at("position") == 2);
  pool.add_worker(2);
  CHECK(first.receive_type("session.ready").at("type") == "session.ready");
  CHECK(second.receive_type("session.ready").at("type") == "session.ready");
}

TEST_CASE("an outage longer than a lease costs nobody the place, even in a full queue") {
  GatewayPool pool({.queue_limit = 3, .lease = 2s});
  std::vector<std::unique_ptr<SocketClient>> clients;
  for (int place = 1; place <= 3; ++place) {
    clients.push_back(std::make_unique<SocketClient>(pool.url(), "/v1/realtime"));
    clients.back()->send(k_start);
    REQUIRE(clients.back()->receive_json().at("position") == place);
  }
  pool.set_away(true);
  for (const auto& client : clients) next_place(*client, true);
  REQUIRE(eventually([&] {
    pool.store().expire();
    return pool.store().view().waiters.empty();
  }));
  pool.set_away(false);
  for (int place = 1; place <= 3; ++place) {
    // They come back in any order, so the first ones may be moved back again.
    auto update = next_place(*clients[place - 1], false);
    while (update.at("position") != place) update = next_place(*clients[place - 1], false);
  }
  SocketClient late = pool.connect();
  late.send(k_start);
  CHECK(late.receive_json().at("message") == "no GPU is available and the queue is full");
}

TEST_CASE(
    "who has waited for the store as long as one may wait for a GPU is sent away with the reason") {
  GatewayPool pool({.queue_timeout = 100ms});
  pool.set_away(true);
  SocketClient client = pool.connect();
  client.send(k_start);
  const auto error = client.receive_type("error");
  CHECK(error.at("code") == "store_unavailable");
  CHECK(error.at("retry_after") == 10);
  CHECK(client.close_code() == 1013);
}

TEST_CASE("a lease is its claimant's own before the claimant knows of it") {
  GatewayPool pool({.lease = 300ms});
  pool.add_worker();
  pool.set_claims(GENERATE(AwayStore::Answers::are_held, AwayStore::Answers::are_lost));
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(eventually([&] { return pool.store().leases().size() == 1; }));
  const Lease lease = pool.store().leases().at(0);
  const auto still_held = [&] {
    const int renewals = pool.renewals();
    REQUIRE(eventually([&] { return pool.renewals() > renewals + 4; }));
    const std::vector<Lease> leases = pool.store().leases();
    return leases.size() == 1 && leases[0].id == lease.id;
  };
  CHECK(still_held());
  pool.set_claims(AwayStore::Answers::come);
  CHECK(client.receive_type("session.ready").at("type") == "session.ready");
  CHECK(still_held());
}
