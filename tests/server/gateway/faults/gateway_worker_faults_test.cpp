// What the gateway makes of workers, leases and clients that fail: who is blamed, and what is kept.
#include <catch2/catch.hpp>

#include "tests/fakes/loopback_server.h"
#include "tests/server/gateway/faults/session_blame.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// Different users come until the pool has refused one so many times.
void be_refused(GatewayPool& pool, int users) {
  for (int i = 0; i < users; ++i) {
    SocketClient client = pool.connect_from("10.0.0." + std::to_string(i));
    client.send(k_start);
    // What the worker said is not for the client.
    CHECK(client.receive_json().at("code") == "no_capacity");
    CHECK(client.close_code() == 1013);
    REQUIRE(eventually([&] { return known_faults(pool) == static_cast<std::size_t>(i + 1); }));
  }
}

}  // namespace

TEST_CASE("a worker that cannot be reached is marked failed, and the user gets another") {
  GatewayPool pool;
  const Gpu dead = pool.add_dead_worker();
  const Gpu good = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_type("session.ready").at("type") == "session.ready");
  CHECK(pool.state_of(good) == State::running);
  CHECK(eventually([&] { return pool.state_of(dead) == State::failed; }));
  CHECK_THAT(pool.last_error_of(dead), Catch::Contains("its worker is gone"));
  CHECK(pool.store().leases().size() == 1);
}

TEST_CASE("a worker that stands still when a session fails is not marked failed at once") {
  const LoopbackServer still([](Connection& client, const ReceivedRequest&) { client.hold(); });
  GatewayOptions impatient;
  impatient.session.connect_within = 100ms;
  GatewayPool pool({.queue_limit = 0}, impatient);
  const Gpu gpu = pool.add_worker_at(still.url());
  SocketClient client = pool.connect();
  client.send(k_start);
  // The gateway asks twice, with two seconds of patience.
  CHECK(eventually([&] { return pool.store().find(gpu.id)->misses == 1; }));
  CHECK(pool.state_of(gpu) != State::failed);
}

TEST_CASE("a user whom one worker declines gets another at once, and no GPU fails") {
  GatewayPool pool;
  Gpu bad;
  {
    const Script script(R"({"routes": {"/v1/session": {"status": 502}}})");
    bad = pool.add_worker();
  }
  const Gpu good = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_json().at("type") == "session.ready");
  CHECK(pool.state_of(good) == State::running);
  REQUIRE(eventually([&] { return known_faults(pool) == 1; }));
  CHECK(eventually([&] { return pool.state_of(bad) == State::idle; }));
}

TEST_CASE("a worker without memory for a session is not blamed, and another one gets the session") {
  const bool late = GENERATE(false, true);
  GatewayPool pool;
  Gpu full;
  {
    const Script script(late ? R"({"start_error": "memory"})"
                             : R"({"routes": {"/v1/session": {"status": 503, "code": "memory"}}})");
    full = pool.add_worker();
  }
  const Gpu good = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_json().at("type") == "session.ready");
  CHECK(pool.state_of(good) == State::running);
  CHECK(eventually([&] { return pool.state_of(full) == State::idle; }));
  CHECK(known_faults(pool) == 0);
}

TEST_CASE("a worker that has no memory for a moment is tried again, and is not marked failed") {
  const Script script(
      R"({"routes": {"/v1/session": {"status": 503, "code": "memory", "times": 1}}})");
  GatewayPool pool(quick_to_blame(8));
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_type("session.ready").at("type") == "session.ready");
  CHECK(pool.state_of(gpu) == State::running);
  CHECK(known_faults(pool) == 0);
}

TEST_CASE("a worker that declines once is tried again by the user whom it declined") {
  const Script script(R"({"routes": {"/v1/session": {"status": 503, "times": 1}}})");
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_type("session.ready").at("type") == "session.ready");
  CHECK(pool.state_of(gpu) == State::running);
}

TEST_CASE("a worker that gets no session ready is marked failed, not after the first one") {
  GatewayOptions impatient;
  impatient.session.ready_within = 100ms;
  const Script script(R"({"ready": false})");
  GatewayPool pool(quick_to_blame(0), impatient);
  const Gpu gpu = pool.add_worker();
  be_refused(pool, 2);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
}

TEST_CASE("a worker that reports progress has more time to get a session ready, but not for ever") {
  const int steps = 80;  // of 50 ms each
  const Script script(R"({"preparing": 80})");
  GatewayOptions impatient;
  impatient.session.ready_within = 3s;
  impatient.session.prepared_within = std::chrono::milliseconds(GENERATE(60000, 300));
  GatewayPool pool({.queue_limit = 0}, impatient);
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  if (impatient.session.prepared_within < 1s) {
    CHECK(client.receive_type("error").at("code") == "no_capacity");
    CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
    return;
  }
  for (int i = 1; i <= steps; ++i) {
    const auto frame = client.receive_type("session.preparing");
    CHECK(frame.at("done") == i);
    CHECK(frame.at("total") == 250);
  }
  CHECK(client.receive_json().at("type") == "session.ready");
}

TEST_CASE(
    "session.end in the same packet as session.start ends the session, and the GPU stays idle") {
  const Script script(R"({"ready": false})");
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url());
  upgrade(client);
  client.send(text_frame(k_start) + text_frame(R"({"type":"session.end"})"));
  // Nothing comes but the close frame: 1000.
  CHECK(client.receive_until("\x03\xe8") == "\x88\x02\x03\xe8");
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  CHECK(pool.last_error_of(gpu).empty());
  CHECK(pool.store().view().waiters.empty());
}

TEST_CASE("a client that leaves while the worker connects or loads does not fail the GPU") {
  const auto script =
      GENERATE(R"({"routes": {"/v1/session": {"delay_s": 0.3}}})", R"({"ready": false})");
  const bool politely = GENERATE(true, false);
  const Script scripted(script);
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(eventually([&] { return !pool.store().leases().empty(); }));
  if (politely) client.send(R"({"type":"session.end"})");
  if (!politely) client.vanish();
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  CHECK(pool.last_error_of(gpu).empty());
  if (politely) CHECK(client.close_code() == 1000);
}

TEST_CASE("a worker's own faults before session.ready fail its GPU in the end, never the client") {
  const std::string code = GENERATE("failed", "drained", "superseded", "no_capacity", "new_word");
  const Script script((R"({"start_error": ")" + code + R"("})").c_str());
  GatewayPool pool(quick_to_blame(0));
  const Gpu gpu = pool.add_worker();
  be_refused(pool, 2);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  CHECK(pool.last_error_of(gpu).empty());
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
  // A session that is superseded says nothing about the worker, unless that happens every time.
  CHECK_THAT(pool.last_error_of(gpu),
             Catch::Contains(code == "superseded" ? "new leases for old" : code + ": the script"));
}

TEST_CASE("a worker that fences a lease off is not failed, and the user gets another lease") {
  const Script script(
      R"({"routes": {"/v1/session": {"status": 409, "code": "stale_epoch", "times": 2}}})");
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  const auto epoch = client.receive_type("session.ready").at("epoch").get<std::uint64_t>();
  CHECK(epoch % (1 << 20) == 3);  // the third claim of its generation
  CHECK(pool.state_of(gpu) == State::running);
  CHECK(pool.last_error_of(gpu).empty());
  CHECK(pool.store().leases().size() == 1);
}

TEST_CASE("a worker that fences every lease off is marked failed") {
  const Script script(R"({"routes": {"/v1/session": {"status": 409, "code": "stale_epoch"}}})");
  GatewayPool pool(quick_to_blame(0));
  const Gpu gpu = pool.add_worker();
  be_refused(pool, 3);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
  CHECK_THAT(pool.last_error_of(gpu),
             Catch::EndsWith("the worker takes new leases for old: the script says so (HTTP 409)"));
  CHECK(pool.store().leases().empty());
}

TEST_CASE("a worker that declines every session is marked failed with its reason, not with JSON") {
  const Script script(R"({"routes": {"/v1/session": {"status": 503}}})");
  GatewayPool pool(quick_to_blame(0));
  const Gpu gpu = pool.add_worker();
  be_refused(pool, 3);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
  CHECK(pool.last_error_of(gpu) ==
        "session after session fails on it: the worker declined a session: the script says so "
        "(HTTP 503)");
}

TEST_CASE("a client that asked for what is not there is told so, and the GPU stays idle") {
  const std::string code = GENERATE("usage", "not_found", "invalid");
  const Script script((R"({"start_error": ")" + code + R"("})").c_str());
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_json().at("code") == code);
  CHECK(client.close_code() == 1008);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  CHECK(pool.last_error_of(gpu).empty());
}

TEST_CASE("a session that no worker can start is tried on three of them, and fails none") {
  const Script script(R"({"start_error": "failed"})");
  GatewayPool pool(quick_to_blame());
  std::vector<Gpu> gpus;
  for (int i = 0; i < 4; ++i) gpus.push_back(pool.add_worker());
  SocketClient client = pool.connect();
  client.send(k_start);
  const auto error = client.receive_type("error");
  CHECK(error.at("code") == "failed");
  CHECK(error.at("retry_after") == 5);
  CHECK(client.close_code() == 1011);
  CHECK(eventually([&] { return known_faults(pool) == 3; }));
  CHECK(std::all_of(gpus.begin(), gpus.end(),
                    [&](const Gpu& gpu) { return pool.state_of(gpu) == State::idle; }));
}

TEST_CASE(
    "a worker lost while the store is away is marked failed, and its slot freed, once the store is "
    "back") {
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url());  // does not answer the close: its direction is still relayed
  start_session(client);
  {
    const auto hold = pool.locked();
    pool.kill_worker(gpu);
    CHECK_THAT(client.receive_until("store_unavailable"), Catch::Contains("store_unavailable"));
    // The gateway's call began before these two, and its patience is over before the second's.
    CHECK_THROWS_AS(pool.store().leave({"nobody"}), Error);
    CHECK_THROWS_AS(pool.store().leave({"nobody"}), Error);
    CHECK(pool.state_of(gpu) == State::running);
  }
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
  CHECK_THAT(pool.last_error_of(gpu), Catch::Contains("its worker is gone"));
  CHECK(pool.store().leases().empty());
}

TEST_CASE("the client of a lost worker without another one is told, and the GPU marked failed") {
  GatewayPool pool({.queue_limit = 0});
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  pool.kill_worker(gpu);
  const auto error = client.receive_json();
  CHECK(error.at("code") == "worker_lost");
  CHECK(error.at("retry_after") == 1);
  CHECK(client.close_code() == 1011);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
  CHECK(pool.store().leases().empty());
}

TEST_CASE("a session whose lease is lost ends") {
  GatewayPool pool({.lease = 300ms});
  pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const Lease lease = pool.store().leases().at(0);
  REQUIRE(pool.store().release(lease.id, lease.epoch));
  CHECK(client.receive_json().at("code") == "lease_lost");
  CHECK(client.close_code() == 1011);
}

TEST_CASE("a lease is renewed for as long as its session goes on") {
  GatewayPool pool({.lease = 3s});
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const Lease first = pool.store().leases().at(0);
  bool expired = false;
  CHECK(eventually([&] {
    expired = expired || !pool.store().expire().empty();
    return expired || pool.store().leases().at(0).until > first.until + 1500ms;  // renewed twice
  }));
  CHECK_FALSE(expired);
  CHECK(pool.state_of(gpu) == State::running);
}

TEST_CASE("an orphaned lease is released, not renewed for ever") {
  GatewayPool pool({.lease = 300ms});
  const Gpu gpu = pool.add_worker();
  REQUIRE(pool.store().claim({.id = {"lost"}, .gateway = "test", .host = "here"}, 10s));
  CHECK(pool.state_of(gpu) == State::running);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
}

TEST_CASE("a client that does not read is disconnected, and its GPU is not marked failed") {
  const Script script(R"({"echo": true})");
  GatewayOptions impatient;
  impatient.session.slow_client = 300ms;
  impatient.session.resume_within = 0ms;
  GatewayPool pool({}, impatient);
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url(), 4096);
  start_session(client);
  // Binary frames of 64 KiB, echoed to one who does not look.
  const std::string frame =
      std::string("\x82\xff\0\0\0\0\0\x01\0\0", 10) + k_mask + std::string(65536, 'x');
  int sent = 0;
  while (sent < 4000 && client.send(frame)) ++sent;
  CHECK(sent < 4000);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  CHECK(pool.store().leases().empty());
}
