// Sessions whose worker is lost, and that go on at another one.
#include <catch2/catch.hpp>

#include "tests/server/gateway/media_client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const Gpu& other_of(const std::vector<Gpu>& gpus, const Gpu& gpu) {
  return gpus.at(0).id == gpu.id ? gpus.at(1) : gpus.at(0);
}

// The stream goes on at that worker, as the protocol says.
void check_goes_on(MediaClient& client, Received& received) {
  REQUIRE(client.until_text("worker.changed"));
  CHECK(client.text.at("gap_s") >= 0);
  REQUIRE(client.until_media(MediaKind::video));
  CHECK(client.has(media_flag::key | media_flag::discontinuity));
  REQUIRE(client.until_media(MediaKind::video));
  CHECK(received.backwards == 0);
}

}  // namespace

TEST_CASE("a session whose worker dies goes on at another one, and its old lease ends") {
  const Script script(k_media);
  GatewayPool pool;
  const std::vector<Gpu> gpus = {pool.add_worker(), pool.add_worker()};
  Received received;
  MediaClient client(pool, received);
  REQUIRE(client.until_media(MediaKind::pcm));
  REQUIRE(client.until_media(MediaKind::video));
  const Lease before = pool.store().leases().at(0);
  const Gpu lost = pool.leased();
  pool.kill_worker(lost);
  check_goes_on(client, received);
  // The new worker was told where the session stands: nothing was numbered twice, or left out.
  CHECK(received.missing[MediaKind::pcm] == 0);
  CHECK(received.missing[MediaKind::video] == 0);
  const Gpu& next = other_of(gpus, lost);
  const auto start = pool.asked_of(next).at("starts").at(0);
  CHECK(start.at("avatar") == "ada");
  CHECK(start.at("position").at("pictures") > 0);
  CHECK(start.at("position").at("clock_us") > 0);
  const std::vector<Lease> leases = pool.store().leases();
  REQUIRE(leases.size() == 1);
  CHECK(leases[0].gpu == next.id);
  CHECK(leases[0].id != before.id);
  CHECK(eventually([&] { return pool.state_of(lost) == State::failed; }));
  client.socket().send(R"({"type":"session.end"})");
  CHECK(client.socket().close_code() == 1000);
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
  CHECK(pool.state_of(next) == State::idle);
  CHECK_THAT(ask("GET", pool.url() + "/metrics").text,
             Catch::Contains("navtalk_gateway_workers_changed_total 1\n"));
}

TEST_CASE("a worker that stands still is lost, and its session goes on at another one") {
  const Script script(k_media);
  GatewayOptions brisk;
  brisk.session.worker_silence = 1s;
  GatewayPool pool({}, brisk);
  const std::vector<Gpu> gpus = {pool.add_worker(), pool.add_worker()};
  Received received;
  MediaClient client(pool, received);
  REQUIRE(client.until_media(MediaKind::video));
  const Gpu still = pool.leased();
  pool.stop_worker(still);
  check_goes_on(client, received);
  CHECK(pool.leased().id != still.id);
  // When it runs again it still has a session that nobody has any more; that ends.
  pool.stop_worker(still, false);
  CHECK(eventually([&] { return pool.asked_of(still).at("sessions") == 0; }));
}

TEST_CASE(
    "a session that lost the only worker waits for the next one, before those who came later") {
  const Script script(k_media);
  GatewayPool pool;
  pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  REQUIRE(client.until_media(MediaKind::video));
  SocketClient waiter = pool.connect();
  waiter.send(k_start);
  REQUIRE(waiter.receive_json().at("position") == 1);
  const Gpu lost = pool.leased();
  pool.kill_worker(lost);
  auto update = waiter.receive_type("queue.update");
  while (update.at("position") != 2) update = waiter.receive_type("queue.update");
  const auto is_first = [&] {
    return client.text.is_object() && client.text.contains("position") &&
           client.text.at("position") == 1;
  };
  REQUIRE(client.until(is_first));
  const Gpu next = pool.add_worker();
  check_goes_on(client, received);
  CHECK(pool.leased().id == next.id);
  client.socket().send_binary(std::string(640, 'y'));
  CHECK(eventually([&] { return pool.asked_of(next).at("media_bytes") == 640; }));
}

TEST_CASE(
    "a session that gets no other worker within the queue timeout is told that its own is lost") {
  const Script script(k_media);
  // The user has been served for longer than one may wait: the time counts from the loss.
  GatewayPool pool({.queue_timeout = 1s});
  const Gpu gpu = pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  const TimePoint until = pool.store().now() + 1500ms;
  REQUIRE(client.until([&] { return pool.store().now() > until; }));
  pool.kill_worker(gpu);
  REQUIRE(client.until_text("queue.update"));
  REQUIRE(client.until_text("error"));
  CHECK(client.text.at("code") == "worker_lost");
  CHECK(client.text.at("retry_after") == 1);
  CHECK(client.socket().close_code() == 1011);
  CHECK(eventually([&] { return pool.store().view().waiters.empty(); }));
  CHECK(pool.store().leases().empty());
}

TEST_CASE(
    "a client may end its session, or drop and come back, while it waits for another worker") {
  const Script script(k_media);
  GatewayPool pool;
  pool.add_worker();
  Received received;
  MediaClient first(pool, received);
  REQUIRE(first.until_media(MediaKind::video));
  pool.kill_worker(pool.leased());
  REQUIRE(first.until_text("queue.update"));
  const bool ends = GENERATE(true, false);
  if (ends) {
    first.socket().send(R"({"type":"session.end"})");
    CHECK(first.socket().close_code() == 1000);
    CHECK(eventually([&] { return pool.store().view().waiters.empty(); }));
    return;
  }
  first.socket().vanish();
  MediaClient second(pool, received, start_with(first.token()));
  REQUIRE(second.until_text("queue.update"));  // that it still waits
  pool.add_worker();
  check_goes_on(second, received);
}

TEST_CASE("a worker that says it failed is replaced, and the client does not hear its words") {
  const Script script(R"({"media": 2000, "end": "failed"})");
  GatewayPool pool;
  pool.add_worker();
  pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  client.socket().send_binary("end");
  REQUIRE(client.until([&] { return client.text.is_object(); }));
  CHECK(client.text.at("type") == "worker.changed");
}

TEST_CASE("a worker that drains gives notice, with a token, and ends the session with its reason") {
  const Script script(R"({"media": 2000, "end": "drained"})");
  GatewayPool pool;
  pool.add_worker();
  pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  client.socket().send_binary("end");
  REQUIRE(client.until_text("session.draining"));
  CHECK(client.text.at("resume_token") == client.token());
  REQUIRE(client.until_text("error"));
  CHECK(client.text.at("code") == "drained");
  CHECK(client.socket().close_code() == 1001);
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
}
