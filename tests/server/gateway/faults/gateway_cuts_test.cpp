// Sessions that are cut: which of them count against a GPU, and where the next ones go.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/server/gateway/faults/session_blame.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

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
  CHECK(eventually([&] { return pool.state_of(one) == State::idle; }));
  CHECK(eventually([&] { return pool.state_of(other) == State::idle; }));
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
  for (const Gpu& gpu : gpus) CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
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
  CHECK(eventually([&] { return pool.state_of(bad) == State::idle; }));
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
