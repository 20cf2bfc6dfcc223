// Clients that read too slowly, or not at all.
#include <catch2/catch.hpp>

#include "tests/server/gateway/media_client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// More than the buffers of both ends hold in half a second.
constexpr const char* k_large = R"({"media": 200000})";

double metric(GatewayPool& pool, const std::string& name) {
  const std::string metrics = ask("GET", pool.url() + "/metrics").text;
  const std::size_t at = metrics.find("\n" + name + " ");
  REQUIRE(at != std::string::npos);
  return std::stod(metrics.substr(at + name.size() + 2));
}

double dropped(GatewayPool& pool) { return metric(pool, "navtalk_gateway_dropped_pictures_total"); }

}  // namespace

TEST_CASE(
    "a client that does not read for a while loses pictures up to a key frame, and no sound") {
  const Script script(k_large);
  GatewayOptions patient;
  patient.session.slow_client = 10min;
  GatewayPool pool({}, patient);
  const Gpu gpu = pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  REQUIRE(client.until_media(MediaKind::video));
  REQUIRE(eventually([&] { return dropped(pool) >= 3; }));
  CHECK(pool.asked_of(gpu).at("frames").at("keyframe") >= 1);
  while (received.missing[MediaKind::video] == 0) REQUIRE(client.until_media(MediaKind::video));
  CHECK(client.has(media_flag::key | media_flag::discontinuity));
  REQUIRE(client.until_media(MediaKind::video));
  REQUIRE(client.until_media(MediaKind::pcm));
  CHECK(received.missing[MediaKind::pcm] == 0);
  CHECK(received.backwards == 0);
  CHECK(metric(pool, "navtalk_gateway_slow_clients_total") == 0);
}

TEST_CASE("a client that reads nothing is disconnected, and may come back to its session") {
  const Script script(k_large);
  GatewayOptions brisk;
  brisk.session.slow_client = 1s;
  brisk.session.worker_silence = 1s;
  GatewayPool pool({}, brisk);
  const Gpu gpu = pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  REQUIRE(eventually([&] { return metric(pool, "navtalk_gateway_slow_clients_total") == 1; }));
  REQUIRE(eventually([&] { return pool.asked_of(gpu).at("frames").contains("output.pause"); }));
  CHECK(pool.store().leases().size() == 1);
  // It was the client, not the worker.
  CHECK(metric(pool, "navtalk_gateway_workers_changed_total") == 0);
  MediaClient again(pool, received, start_with(client.token()));
  REQUIRE(again.until_media(MediaKind::video));
  CHECK(again.has(media_flag::key | media_flag::discontinuity));
}

TEST_CASE("texts that a client does not read are not taken for its worker's silence") {
  const Script script(R"({"media": 2000, "texts": 400})");
  GatewayOptions brisk;
  // The tick, a fifth of the silence, asks how long the client has not read, and counts 0.2 s at most each time: this takes 4 s.
  brisk.session.slow_client = 2s;
  brisk.session.worker_silence = 2s;
  GatewayPool pool({}, brisk);
  pool.add_worker();
  pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  REQUIRE(client.until_media(MediaKind::video));
  client.socket().send_binary("at");
  REQUIRE(eventually([&] { return metric(pool, "navtalk_gateway_slow_clients_total") == 1; }));
  CHECK(metric(pool, "navtalk_gateway_workers_changed_total") == 0);
}

TEST_CASE("interrupt and session.end are heard while the client reads nothing") {
  const Script script(k_large);
  GatewayOptions patient;
  patient.session.slow_client = 10min;
  GatewayPool pool({}, patient);
  const Gpu gpu = pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  REQUIRE(eventually([&] { return dropped(pool) > 0; }));
  client.socket().send(R"({"type":"interrupt"})");
  CHECK(eventually([&] { return pool.asked_of(gpu).at("frames").contains("interrupt"); }));
  client.socket().send(R"({"type":"session.end"})");
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
}
