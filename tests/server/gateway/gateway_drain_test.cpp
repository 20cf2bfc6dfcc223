// Sessions on a GPU that drains.
#include <catch2/catch.hpp>

#include "scheduler/provision/operator_actions.h"
#include "tests/server/gateway/media_client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* k_who = "operator";

}  // namespace

TEST_CASE("a GPU that an operator drains tells its sessions, and ends them after the notice") {
  const Script script(k_media);
  GatewayPool pool;
  const Gpu gpu = pool.add_worker(2);
  Received received;
  MediaClient client(pool, received);
  const bool over_http = GENERATE(true, false);
  if (over_http) {
    const Got got = pool.operate("POST", "/v1/pool/gpus/" + gpu.id.text + "/drain",
                                 R"({"notice_s": 1})", k_json);
    CHECK(got.status == 202);
  } else {
    drain_gpu(pool.store(), gpu.id.text, 1s, k_who);
  }
  REQUIRE(client.until_text("session.draining"));
  CHECK(client.text.at("notice_s") <= 1);
  CHECK(client.text.at("resume_token") == client.token());
  SocketClient late = pool.connect();
  late.send(k_start);
  CHECK(late.receive_json().at("type") == "queue.update");
  REQUIRE(client.until_text("error"));
  CHECK(client.text.at("code") == "drained");
  CHECK_FALSE(client.text.contains("retry_after"));  // nobody knows: it was the only one
  CHECK(client.socket().close_code() == 1001);
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
}

TEST_CASE("who waits while every GPU is drained is told so, and when that is over") {
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_type("session.ready").is_object());
  drain_gpu(pool.store(), gpu.id.text, 300s, k_who);
  SocketClient late = pool.connect();
  late.send(k_start);
  nlohmann::json update;
  do {
    update = late.receive_type("queue.update");
  } while (update.is_object() && !update.contains("code"));
  REQUIRE(update.is_object());
  CHECK(update.at("code") == "withdrawn");
  CHECK(update.at("position") == 1);
  CHECK(update.at("eta_s").is_null());
  undrain_gpu(pool.store(), gpu.id.text, k_who);
  do {
    update = late.receive_type("queue.update");
  } while (update.is_object() && update.contains("code"));
  CHECK(update.at("position") == 1);
}

TEST_CASE("who loses a drained GPU while another one serves may try again at once") {
  const Script script(k_media);
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  pool.add_worker();
  drain_gpu(pool.store(), gpu.id.text, 1s, k_who);
  REQUIRE(client.until_text("error"));
  CHECK(client.text.at("code") == "drained");
  CHECK(client.text.at("retry_after") == 1);
}

TEST_CASE("a client that was away hears that the drain of its GPU was undone") {
  const Script script(k_media);
  GatewayPool pool;
  const Gpu gpu = pool.add_worker(2);
  Received received, others;
  MediaClient first(pool, received), other(pool, others);
  drain_gpu(pool.store(), gpu.id.text, 300s, k_who);
  REQUIRE(first.until_text("session.draining"));
  const std::string token = first.token();
  first.socket().vanish();
  REQUIRE(eventually(
      [&] { return pool.asked_of(gpu).at("frames").value("output.pause", std::size_t{0}) == 1; }));
  undrain_gpu(pool.store(), gpu.id.text, k_who);
  REQUIRE(other.until_text("session.undrained"));  // the gateway has told all of them
  MediaClient second(pool, received, start_with(token));
  CHECK(second.until_text("session.undrained"));
}

TEST_CASE("a drain that is undone, or that no operator began, ends no session") {
  const Script script(k_media);
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  Received received;
  MediaClient client(pool, received);
  const bool undone = GENERATE(true, false);
  if (undone) {
    drain_gpu(pool.store(), gpu.id.text, 5s, k_who);
    REQUIRE(client.until_text("session.draining"));
    undrain_gpu(pool.store(), gpu.id.text, k_who);
    REQUIRE(client.until_text("session.undrained"));
  } else {
    const Gpu row = *pool.store().find(gpu.id);
    REQUIRE(pool.store().change({.id = row.id, .version = row.version, .draining = true},
                                {"scaler", "it is old"}));
  }
  const TimePoint until = pool.store().now() + 7s;
  REQUIRE(client.until([&] {
    CHECK(client.text.is_null());
    return pool.store().now() > until;
  }));
  CHECK(pool.store().leases().size() == 1);
}

TEST_CASE("a client that has begun no session when the gateway goes away is told so") {
  GatewayPool pool;
  SocketClient client = pool.connect();
  REQUIRE(client.connected());
  pool.stop();
  const auto error = client.receive_json();
  CHECK(error.at("code") == "draining");
  CHECK(error.at("retry_after") == 1);
  CHECK(client.close_code() == 1001);
  CHECK(pool.ends());
}

TEST_CASE("a notice that is not one is refused") {
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  for (const char* body :
       {R"({"notice_s": -1})", R"({"notice_s": "1"})", R"({"notice_s": 1e6})", "7"}) {
    CAPTURE(body);
    CHECK(pool.operate("POST", "/v1/pool/gpus/" + gpu.id.text + "/drain", body, k_json).status ==
          400);
  }
  CHECK_FALSE(pool.store().find(gpu.id)->draining);
}
