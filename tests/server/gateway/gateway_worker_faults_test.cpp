// What the gateway makes of workers, leases and clients that fail: who is blamed, and what is kept.
#include <catch2/catch.hpp>
#include <thread>

#include "scheduler/pool/faults/session_faults.h"
#include "tests/fakes/loopback_server.h"
#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// Every fault is an occasion of its own, and a GPU that is compared with nothing is to blame for any
// series.
AllocatorOptions quick_to_blame(std::size_t queue_limit = 100) {
  return {.queue_limit = queue_limit,
          .faults = {.same_occasion = 0s, .lone_occasions = 3, .lone_clients = 3, .lone_span = 0s}};
}

std::size_t known_faults(GatewayPool& pool) {
  const auto faults = k_session_faults.read(pool.store());
  return faults ? faults->all().size() : 0;
}

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

// What a user hears whose worker is lost: the session goes on elsewhere, or is over.
bool is_told_of_loss(SocketClient& client) {
  for (;;) {
    const nlohmann::json frame = client.receive_json();
    if (frame.is_null()) return false;
    if (frame.at("type") == "worker.changed") return true;
    if (frame.at("type") == "error") return frame.at("code") == "worker_lost";
  }
}

// Has a session, whose connection the worker cuts after that time; and leaves.
void be_cut(SocketClient client, std::chrono::milliseconds after = 0ms) {
  client.send(k_start);
  REQUIRE(client.receive_type("session.ready").at("type") == "session.ready");
  std::this_thread::sleep_for(after);
  client.send_binary("cut");
  CHECK(is_told_of_loss(client));
  client.send(R"({"type":"session.end"})");
  client.close_code();
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

TEST_CASE("one cut socket interrupts one session: the others live on, and the GPU stays") {
  const Script script(R"({"cut": true})");
  GatewayPool pool(quick_to_blame());
  const Gpu gpu = pool.add_worker(4);
  SocketClient first = pool.connect(), second = pool.connect();
  for (SocketClient* const client : {&first, &second}) {
    client->send(k_start);
    REQUIRE(client->receive_json().at("type") == "session.ready");
  }
  be_cut(pool.connect());
  REQUIRE(eventually([&] { return known_faults(pool) == 1; }));
  CHECK(eventually([&] { return pool.store().leases().size() == 2; }));
  CHECK(pool.state_of(gpu) == State::running);
  for (SocketClient* const client : {&first, &second}) {
    client->send(R"({"type":"session.end"})");
    CHECK(client->close_code() == 1000);
  }
}

TEST_CASE("a client that is cut sixteen times in a row fails no GPU") {
  const Script script(R"({"cut": true})");
  GatewayPool pool(quick_to_blame());
  const Gpu one = pool.add_worker(), other = pool.add_worker();
  for (int i = 0; i < 16; ++i) be_cut(pool.connect());
  REQUIRE(eventually([&] { return known_faults(pool) == 16; }));
  CHECK(pool.state_of(one) == State::idle);
  CHECK(pool.state_of(other) == State::idle);
}

TEST_CASE("a client that drops and begins anew is not another client") {
  const Script script(R"({"cut": true})");
  GatewayPool pool(quick_to_blame());
  const Gpu gpu = pool.add_worker(4);
  SocketClient dropped = pool.connect_from("10.0.0.1");
  dropped.send(k_start);
  REQUIRE(dropped.receive_json().at("type") == "session.ready");
  dropped.vanish();
  REQUIRE(eventually([&] { return pool.asked_of(gpu).at("frames").contains("output.pause"); }));
  be_cut(pool.connect_from("10.0.0.1"));
  REQUIRE(eventually([&] { return known_faults(pool) == 1; }));
  CHECK(k_session_faults.read(pool.store())->all().at(0).client == "10.0.0.1#0");
}

TEST_CASE("sessions of visitors that are cut on every worker fail none of them") {
  const Script script(R"({"cut": true})");
  GatewayPool pool(quick_to_blame());
  const std::vector<Gpu> gpus = {pool.add_worker(), pool.add_worker(), pool.add_worker()};
  constexpr int k_visitors = 18;
  for (int i = 0; i < k_visitors; ++i) {
    be_cut(pool.connect_from("10.0.0." + std::to_string(i)));
    // One after the other: what is reported together is one occasion.
    REQUIRE(eventually([&] { return known_faults(pool) == static_cast<std::size_t>(i + 1); }));
  }
  for (const Gpu& gpu : gpus) CHECK(pool.state_of(gpu) == State::idle);
  const auto events = pool.store().events({});
  CHECK(std::count_if(events.begin(), events.end(), [](const PoolEvent& event) {
          return event.why.find("sessions break on most GPUs") != std::string::npos;
        }) == 1);
}

TEST_CASE("where two visitors' sessions were cut, the next one is sent elsewhere") {
  Gpu bad;
  GatewayPool pool;
  {
    const Script script(R"({"cut": true})");
    bad = pool.add_worker(4);
  }
  const Gpu good = pool.add_worker(4);
  for (const char* const who : {"10.0.0.1", "10.0.0.2"}) be_cut(pool.connect_from(who));
  REQUIRE(eventually([&] { return known_faults(pool) == 2; }));
  SocketClient client = pool.connect_from("10.0.0.3");
  client.send(k_start);
  REQUIRE(client.receive_type("session.ready").at("type") == "session.ready");
  CHECK(pool.store().leases().at(0).gpu == good.id);
  CHECK(pool.state_of(bad) == State::idle);
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

TEST_CASE("a worker that answers well and cuts the sessions of three clients is marked failed") {
  const Script script(R"({"cut": true})");
  const bool proxied = GENERATE(true, false);
  GatewayPool pool(quick_to_blame(0));  // who is cut goes
  const Gpu gpu = pool.add_worker(3);
  if (proxied) {
    for (const char* const who : {"10.0.0.1", "10.0.0.2", "10.0.0.3"}) {
      be_cut(pool.connect_from(who));
    }
  } else {
    // All have one address, but are there at the same time.
    std::vector<std::unique_ptr<SocketClient>> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(std::make_unique<SocketClient>(pool.url(), "/v1/realtime"));
      clients.back()->send(k_start);
      REQUIRE(clients.back()->receive_json().at("type") == "session.ready");
    }
    // One after the other: what is reported together is one occasion.
    for (std::size_t i = 0; i < clients.size(); ++i) {
      clients[i]->send_binary("cut");
      REQUIRE(eventually([&] { return known_faults(pool) == i + 1; }));
    }
  }
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
  CHECK(pool.last_error_of(gpu) ==
        "session after session fails on it: its connection was cut in a session");
}

TEST_CASE("a session that had lasted and is cut counts as evidence, with its age") {
  const Script script(R"({"cut": true})");
  GatewayPool pool({.faults = {.lasting = 1s, .same_occasion = 0s}});
  const Gpu gpu = pool.add_worker(2);
  // It goes on at the same worker, for a moment: longer, and it would be evidence of a good one.
  be_cut(pool.connect_from("10.0.0.1"), 1100ms);
  REQUIRE(eventually([&] { return known_faults(pool) == 1; }));
  const SessionFault fault = k_session_faults.read(pool.store())->all().at(0);
  CHECK(fault.client.starts_with("10.0.0.1#"));
  CHECK(fault.age > 0s);
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
  CHECK(pool.state_of(bad) == State::idle);
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
  CHECK(pool.state_of(gpu) == State::idle);
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
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
  CHECK(pool.state_of(gpu) == State::idle);
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
  CHECK(pool.state_of(gpu) == State::idle);
  CHECK(pool.last_error_of(gpu).empty());
  if (politely) CHECK(client.close_code() == 1000);
}

TEST_CASE("a worker's own faults before session.ready fail its GPU in the end, never the client") {
  const std::string code = GENERATE("failed", "drained", "superseded", "no_capacity", "new_word");
  const Script script((R"({"start_error": ")" + code + R"("})").c_str());
  GatewayPool pool(quick_to_blame(0));
  const Gpu gpu = pool.add_worker();
  be_refused(pool, 2);
  CHECK(pool.state_of(gpu) == State::idle);
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
  GatewayPool pool({.lease = 400ms});
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const TimePoint until = pool.store().now() + 1s;
  CHECK(eventually([&] { return pool.store().expire().empty() && pool.store().now() > until; }));
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
