// A gateway with a worker that makes media of its own.
#include "tests/server/gateway/media_client.h"
#include "tests/server/worker/live_worker.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;

TEST_CASE("a session at a gateway goes on after a text that its worker could not speak") {
  LiveWorker worker;
  GatewayPool pool;
  pool.add_worker_at(worker.url());
  Received received;
  MediaClient client(pool, received);
  for (int times = 0; times < 2; ++times) {
    client.socket().send(R"({"type":"input.text","text":"hi","voice":"broken"})");
    REQUIRE(client.until_text("error"));
    CHECK(client.text.at("code") == "not_spoken");
  }
  client.socket().send(R"({"type":"input.text","text":"hello"})");
  REQUIRE(client.until_media(MediaKind::pcm));
  CHECK_THAT(ask("GET", pool.url() + "/metrics").text,
             Catch::Contains("navtalk_gateway_workers_changed_total 0\n"));
}
