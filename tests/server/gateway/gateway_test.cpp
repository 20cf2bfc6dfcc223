// Users of the gateway: slots, the queue, frames, and the end of the gateway itself.
#include <catch2/catch.hpp>

#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

TEST_CASE("a user gets a slot, keeps it, and releases it by leaving") {
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  REQUIRE(client.connected());
  client.send(k_start);
  CHECK(client.receive_json().at("type") == "session.ready");
  CHECK(pool.state_of(gpu) == State::running);
  CHECK(pool.store().leases().size() == 1);
  client.send(R"({"type":"session.end"})");
  CHECK(client.close_code() == 1000);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
}

TEST_CASE("a waiting user sees the position change, and gets the slot when it is free") {
  GatewayPool pool;
  pool.add_worker();
  SocketClient first = pool.connect();
  first.send(k_start);
  REQUIRE(first.receive_json().at("type") == "session.ready");
  SocketClient second = pool.connect();
  second.send(k_start);
  CHECK(second.receive_json().at("position") == 1);
  SocketClient third = pool.connect();
  third.send(k_start);
  const auto update = third.receive_json();
  CHECK(update.at("type") == "queue.update");
  CHECK(update.at("position") == 2);
  CHECK(update.contains("eta_s"));
  first.send(R"({"type":"session.end"})");
  CHECK(second.receive_type("session.ready").at("type") == "session.ready");
  auto moved = third.receive_type("queue.update");
  while (moved.at("position") == 2) moved = third.receive_type("queue.update");  // another ETA
  CHECK(moved.at("position") == 1);
  // One who waits leaves by leaving.
  third.send(R"({"type":"session.end"})");
  CHECK(third.close_code() == 1000);
  CHECK(eventually([&] { return pool.store().view().waiters.empty(); }));
}

TEST_CASE("a user hears again and again that nothing has changed in the queue, or with its store") {
  GatewayOptions often;
  often.session.queue_told_again = 50ms;
  GatewayPool pool({}, often);
  SocketClient waiter = pool.connect();
  waiter.send(k_start);
  for (int times = 0; times < 3; ++times) {
    const auto update = waiter.receive_type("queue.update");
    REQUIRE(update.is_object());
    CHECK(update.at("position") == 1);
  }
  pool.set_away(true);
  for (int away = 0; away < 2;) {
    const auto update = waiter.receive_type("queue.update");
    REQUIRE(update.is_object());
    away += update.contains("code") ? 1 : 0;
  }
  pool.set_away(false);
}

TEST_CASE("a user who drops and may not resume releases the slot, or the queue position, at once") {
  GatewayOptions strict;
  strict.session.resume_within = 0ms;
  GatewayPool pool({}, strict);
  const Gpu gpu = pool.add_worker();
  SocketClient holder = pool.connect();
  holder.send(k_start);
  REQUIRE(holder.receive_json().at("type") == "session.ready");
  SocketClient waiter = pool.connect();
  waiter.send(k_start);
  REQUIRE(waiter.receive_json().at("type") == "queue.update");
  waiter.vanish();
  CHECK(eventually([&] { return pool.store().view().waiters.empty(); }));
  holder.vanish();
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
}

TEST_CASE("frames are relayed both ways unchanged") {
  const Script script(R"({"echo": true})");
  GatewayPool pool;
  pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  for (int i = 0; i < 100; ++i) client.send_binary(std::string(10'000, static_cast<char>(i)));
  for (int i = 0; i < 100; ++i) {
    const auto frame = client.receive();
    REQUIRE(frame);
    CHECK_FALSE(frame->text);
    CHECK(frame->bytes == std::string(10'000, static_cast<char>(i)));
  }
}

TEST_CASE("without a queue a user without a slot is refused with a time to try again") {
  GatewayPool pool({.queue_limit = 0});
  SocketClient client = pool.connect();
  client.send(k_start);
  const auto error = client.receive_json();
  CHECK(error.at("type") == "error");
  CHECK(error.at("code") == "no_capacity");
  CHECK(error.at("retry_after") > 0);
  CHECK(client.close_code() == 1013);
}

TEST_CASE("the first frame must be session.start, and in time") {
  {
    GatewayOptions impatient;
    impatient.session.start_within = 300ms;
    GatewayPool pool({}, impatient);
    SocketClient silent = pool.connect();
    CHECK(silent.receive_json().at("code") == "usage");
  }
  GatewayPool pool;
  for (const char* const text : {"nonsense", "{}", R"({"type":"input.end"})"}) {
    SocketClient client = pool.connect();
    client.send(text);
    CHECK(client.receive_json().at("code") == "usage");
    CHECK(client.close_code() == 1008);
  }
  SocketClient long_winded = pool.connect();
  long_winded.send(R"({"type":"session.start","avatar":")" + std::string(17'000, 'x') + R"("})");
  const auto error = long_winded.receive_json();
  CHECK(error.at("code") == "invalid");
  CHECK_THAT(error.at("message").get<std::string>(), Catch::Contains("16384 bytes"));
  CHECK(long_winded.close_code() == 1008);
  SocketClient loud = pool.connect();
  loud.send(std::string((1 << 20) + 1, 'x'));
  // The end of the connection may overtake the close frame, while the client still sends.
  const int code = loud.close_code();
  CHECK((code == 1009 || code == 0));
}

TEST_CASE("a stop tells the sessions, releases their leases, and ends") {
  GatewayOptions brisk;
  brisk.stop_notice = 200ms;
  GatewayPool pool({}, brisk);
  const Gpu gpu = pool.add_worker();
  SocketClient holder = pool.connect();
  holder.send(k_start);
  REQUIRE(holder.receive_json().at("type") == "session.ready");
  SocketClient waiter = pool.connect();
  waiter.send(k_start);
  REQUIRE(waiter.receive_json().at("type") == "queue.update");
  pool.stop();
  CHECK(waiter.receive_type("error").at("code") == "draining");
  CHECK(holder.receive_json().at("type") == "session.draining");
  CHECK(holder.receive_json().at("code") == "drained");
  CHECK(holder.close_code() == 1001);
  CHECK(pool.ends());
  CHECK(pool.store().leases().empty());
  CHECK(pool.store().view().waiters.empty());
  CHECK(pool.state_of(gpu) == State::idle);
}

TEST_CASE("sessions keep their leases through a notice that is longer than a lease") {
  GatewayOptions patient;
  patient.stop_notice = 10min;
  GatewayPool pool({.lease = 3s}, patient);
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const Lease lease = pool.store().leases().at(0);
  pool.stop();
  REQUIRE(client.receive_json().at("type") == "session.draining");
  const auto lost = [&] { return !pool.store().expire().empty(); };
  const auto renewed_twice = [&] {
    return pool.store().leases().at(0).until > lease.until + 1500ms;
  };
  CHECK(eventually([&] { return lost() || renewed_twice(); }));
  const auto leases = pool.store().leases();
  REQUIRE(leases.size() == 1);
  CHECK(leases[0].id == lease.id);
  CHECK(pool.state_of(gpu) == State::running);
  client.send(R"({"type":"session.end"})");
  CHECK(client.close_code() == 1000);
  CHECK(pool.ends());
  CHECK(pool.store().leases().empty());
}

TEST_CASE("until its sessions are over, a gateway that goes away answers whoever comes") {
  const TemporaryDirectory folder;
  GatewayOptions patient;
  patient.stop_notice = 10min;
  patient.jobs = JobOptions{.folder = folder / "jobs"};
  GatewayPool pool({}, patient);
  pool.add_worker();
  SocketClient holder = pool.connect();
  holder.send(k_start);
  REQUIRE(holder.receive_json().at("type") == "session.ready");
  pool.stop();
  REQUIRE(holder.receive_json().at("type") == "session.draining");
  CHECK(pool.connect().declined_status() == 503);
  RawClient late(pool.url());
  late.send(
      "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
      "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  CHECK_THAT(late.receive_until("}"), Catch::Contains("503") && Catch::Contains("Retry-After: 1") &&
                                          Catch::Contains("draining"));
  const Got job = pool.operate("POST", "/v1/jobs", "{}", k_json);
  CHECK(job.status == 503);
  CHECK(job.headers.find("retry-after")->second == "1");
  CHECK_THAT(job.text, Catch::Contains("draining"));
  CHECK(ask("GET", pool.url() + "/healthz").status == 200);
  CHECK(ask("GET", pool.url() + "/readyz").status == 503);
  CHECK(pool.operate("GET", "/v1/pool").status == 200);
  holder.send(R"({"type":"session.end"})");
  CHECK(holder.close_code() == 1000);
  CHECK(pool.ends());
  CHECK_FALSE(pool.connect().connected());
}

TEST_CASE("a stop does not wait for a client that answers nothing") {
  GatewayOptions brisk;
  brisk.stop_notice = 200ms;
  GatewayPool pool({}, brisk);
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url());
  start_session(client);
  pool.stop();
  CHECK(pool.ends());
  CHECK(pool.store().leases().empty());
  CHECK(pool.state_of(gpu) == State::idle);
}

TEST_CASE("a worker that is removed and added again takes sessions without a restart") {
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  const auto has_session = [&] {
    SocketClient client = pool.connect();
    client.send(k_start);
    const bool ready = client.receive_json().value("type", "") == "session.ready";
    client.send(R"({"type":"session.end"})");
    return ready;
  };
  for (int i = 0; i < 3; ++i) {
    REQUIRE(has_session());
    REQUIRE(eventually([&] { return pool.store().leases().empty(); }));
  }
  const Gpu row = *pool.store().find(gpu.id);
  const auto failed = pool.store().change(
      {.id = row.id, .version = row.version, .event = Event::fail}, {"test", "failed"});
  REQUIRE(pool.store().remove(gpu.id, failed->version, {"test", "removed"}));
  pool.add_worker_at(gpu.url, gpu.name);
  CHECK(has_session());
}
