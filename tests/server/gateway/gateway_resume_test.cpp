// Clients whose connection drops, and who come back to their session.
#include <catch2/catch.hpp>

#include "tests/server/gateway/media_client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// The connection ends without a close frame.
void drop(MediaClient& client) { client.socket().vanish(); }

bool is_refused(GatewayPool& pool, const std::string& token) {
  SocketClient client = pool.connect();
  client.send(start_with(token));
  const auto error = client.receive_json();
  return error.is_object() && error.at("type") == "error" && error.at("code") == "resume_failed" &&
         client.close_code() == 1008;
}

std::size_t times_paused(GatewayPool& pool, const Gpu& gpu) {
  return pool.asked_of(gpu).at("frames").value("output.pause", std::size_t{0});
}

}  // namespace

TEST_CASE("a dropped client comes back to its session, on the same lease") {
  const Script script(k_media);
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  Received received;
  MediaClient first(pool, received);
  REQUIRE(first.until_media(MediaKind::video));
  const Lease lease = pool.store().leases().at(0);
  drop(first);
  REQUIRE(eventually([&] { return times_paused(pool, gpu) == 1; }));
  CHECK(pool.store().leases().at(0).id == lease.id);
  MediaClient second(pool, received, start_with(first.token()));
  CHECK(second.ready.at("session") == first.ready.at("session"));
  CHECK(second.ready.at("avatar") == first.ready.at("avatar"));
  CHECK(second.token() != first.token());
  REQUIRE(second.until_media(MediaKind::video));
  CHECK(second.has(media_flag::key | media_flag::discontinuity));
  REQUIRE(second.until_media(MediaKind::video));
  CHECK_FALSE(second.has(media_flag::discontinuity));
  CHECK(received.backwards == 0);
  CHECK(pool.store().leases().at(0).id == lease.id);
  CHECK(pool.store().find(gpu.id)->epoch == lease.epoch);  // nobody leased it meanwhile
  second.socket().send(R"({"type":"session.end"})");
  CHECK(second.socket().close_code() == 1000);
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
}

TEST_CASE("the first sound after a resume says that some is missing") {
  const Script script(k_media);
  GatewayPool pool;
  pool.add_worker();
  Received received;
  MediaClient first(pool, received);
  REQUIRE(first.until_media(MediaKind::pcm));
  drop(first);
  MediaClient second(pool, received, start_with(first.token()));
  REQUIRE(second.until_media(MediaKind::pcm));
  CHECK(second.has(media_flag::discontinuity));
  REQUIRE(second.until_media(MediaKind::pcm));
  CHECK_FALSE(second.has(media_flag::discontinuity));
}

TEST_CASE("a resume ends the old connection, which is still open") {
  const Script script(k_media);
  GatewayPool pool;
  pool.add_worker();
  Received received, others;
  MediaClient first(pool, received);
  REQUIRE(first.until_media(MediaKind::video));
  MediaClient second(pool, others, start_with(first.token()));
  REQUIRE(second.until_media(MediaKind::video));
  CHECK(second.has(media_flag::key | media_flag::discontinuity));
  REQUIRE(first.until_text("error"));
  CHECK(first.text.at("code") == "superseded");
  CHECK(first.socket().close_code() == 1000);
  // The end of the old one is not the end of the session.
  REQUIRE(second.until_media(MediaKind::video));
  CHECK(pool.store().leases().size() == 1);
}

TEST_CASE("a resume token works once, and never after the session") {
  const Script script(k_media);
  GatewayPool pool;
  pool.add_worker();
  Received received;
  MediaClient first(pool, received);
  const std::string used = first.token();
  drop(first);
  MediaClient second(pool, received, start_with(used));
  CHECK(is_refused(pool, used));
  CHECK(is_refused(pool, "0123456789abcdef0123456789abcdef"));
  CHECK(is_refused(pool, ""));
  // Those attempts did not harm the session.
  REQUIRE(second.until_media(MediaKind::video));
  second.socket().send(R"({"type":"session.end"})");
  CHECK(second.socket().close_code() == 1000);
  CHECK(is_refused(pool, second.token()));
  CHECK_THAT(ask("GET", pool.url() + "/metrics").text,
             Catch::Contains("navtalk_gateway_resumed_total 1\n") &&
                 Catch::Contains("navtalk_gateway_resume_failed_total 4\n"));
}

TEST_CASE("a client that does not come back in time loses its session, and the token") {
  const Script script(k_media);
  GatewayOptions brief;
  brief.session.resume_within = 100ms;
  GatewayPool pool({}, brief);
  const Gpu gpu = pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  drop(client);
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
  CHECK(pool.state_of(gpu) == State::idle);
  CHECK(is_refused(pool, client.token()));
}

TEST_CASE("a close frame ends the session at once, unless its code is an application's") {
  const auto [code, ends] =
      GENERATE(table<int, bool>({{1000, true}, {1001, true}, {0, true}, {4000, false}}));
  CAPTURE(code);
  const Script script(k_media);
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url());
  start_session(client);
  std::string frame = "\x88";
  frame += static_cast<char>(code == 0 ? 0x80 : 0x82);
  frame += k_mask;
  if (code != 0) frame += {static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  client.send(frame);
  if (ends) {
    CHECK(eventually([&] { return pool.store().leases().empty(); }));
  } else {
    CHECK(eventually([&] { return times_paused(pool, gpu) == 1; }));
    CHECK(pool.store().leases().size() == 1);
  }
}

TEST_CASE("a full gateway has room for a client that comes back") {
  const Script script(k_media);
  GatewayOptions small;
  small.session.max_sessions = 1;
  GatewayPool pool({}, small);
  const Gpu gpu = pool.add_worker(2);
  Received received;
  MediaClient first(pool, received);
  const bool half_open = GENERATE(true, false);
  if (!half_open) {
    drop(first);
    REQUIRE(eventually([&] { return times_paused(pool, gpu) == 1; }));
  }
  SocketClient stranger = pool.connect();
  REQUIRE(stranger.connected());
  CHECK(SocketClient(pool.url(), "/v1/realtime").declined_status() == 503);
  stranger.send(k_start);
  CHECK(stranger.receive_json().at("code") == "no_capacity");
  CHECK(stranger.close_code() == 1013);
  MediaClient second(pool, received, start_with(first.token()));
  REQUIRE(second.until_media(MediaKind::video));
}

TEST_CASE("a full gateway to whose sessions nobody can come back refuses a connection at once") {
  GatewayOptions small;
  small.session.max_sessions = 1;
  GatewayPool pool({}, small);
  SocketClient waiter = pool.connect();
  waiter.send(k_start);
  REQUIRE(waiter.receive_json().at("type") == "queue.update");
  CHECK(SocketClient(pool.url(), "/v1/realtime").declined_status() == 503);
}

TEST_CASE("a stop ends the sessions whose clients are away") {
  const Script script(k_media);
  GatewayOptions patient;
  patient.stop_notice = 10min;
  GatewayPool pool({}, patient);
  const Gpu gpu = pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  drop(client);
  REQUIRE(eventually([&] { return times_paused(pool, gpu) == 1; }));
  pool.stop();
  CHECK(pool.ends());
  CHECK(pool.store().leases().empty());
}

TEST_CASE("what is between client and gateway does not reach the worker, and the other way round") {
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(
      R"({"type":"session.start","avatar":"ada","position":{"clock_us":1},"resume_token":null})");
  REQUIRE(client.receive_type("session.ready").at("type") == "session.ready");
  client.send(R"({"type":"output.pause"})");
  const auto error = client.receive_json();
  CHECK(error.at("code") == "usage");
  const auto asked = pool.asked_of(gpu);
  CHECK(asked.at("starts") ==
        nlohmann::json::parse(R"([{"type":"session.start","avatar":"ada"}])"));
  CHECK_FALSE(asked.at("frames").contains("output.pause"));
}
