// Live media beside what goes wrong: each has one outcome, and the session that is not concerned goes on.
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/server/gateway/media_client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// Sanitizers keep freed memory for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool k_frees_memory = false;
#else
constexpr bool k_frees_memory = true;
#endif

// Of this process, with the gateway in it.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages >> pages;
  return pages * 4096;
}

}  // namespace

TEST_CASE("a session goes on, and may be resumed, while the store is away") {
  const Script script(k_media);
  GatewayPool pool;
  pool.add_worker();
  Received received;
  MediaClient first(pool, received);
  pool.set_away(true);
  const int failed = pool.failed_calls();
  for (int pictures = 0; pictures < 25; ++pictures) REQUIRE(first.until_media(MediaKind::video));
  first.socket().vanish();
  MediaClient second(pool, received, start_with(first.token()));
  REQUIRE(eventually([&] { return pool.failed_calls() > failed; }));
  for (int pictures = 0; pictures < 25; ++pictures) REQUIRE(second.until_media(MediaKind::video));
  CHECK(received.backwards == 0);
  pool.set_away(false);
  second.socket().send(R"({"type":"session.end"})");
  CHECK(second.socket().close_code() == 1000);
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
}

TEST_CASE("a frame that is too long ends the connection, and the client may come back") {
  const Script script(k_media);
  GatewayPool pool;
  pool.add_worker();
  Received received;
  MediaClient first(pool, received);
  first.socket().send_binary(std::string((1 << 20) + 1, 'x'));
  CHECK(first.socket().close_code() == 1009);
  MediaClient second(pool, received, start_with(first.token()));
  REQUIRE(second.until_media(MediaKind::video));
  CHECK(received.backwards == 0);
}

TEST_CASE("bytes that are no WebSocket frame end the connection, and the slot is free in time") {
  GatewayOptions brief;
  brief.session.resume_within = 100ms;
  GatewayPool pool({}, brief);
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url());
  start_session(client);
  client.send(std::string("\x81\x05hello"));  // not masked
  client.receive_all();
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  CHECK(pool.last_error_of(gpu).empty());
}

TEST_CASE("media of a worker that are no media reach the client as they are, and harm nobody") {
  const Script script(R"({"echo": true})");
  GatewayPool pool;
  pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const std::vector<std::string> frames = {std::string(1, '\3'), std::string(15, '\1'),
                                           std::string(16, '\xff'), std::string(5000, '\3'), "x"};
  for (const std::string& frame : frames) client.send_binary(frame);
  for (const std::string& frame : frames) {
    const auto received = client.receive();
    REQUIRE(received);
    CHECK(received->bytes == frame);
  }
}

TEST_CASE("an hour of silence from a microphone passes, and nothing of it is kept") {
  GatewayPool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const std::string second(32'000, '\0');  // at 16 kHz
  const auto passed = [&](std::uint64_t seconds) {
    return eventually(
        [&] { return pool.asked_of(gpu).at("media_bytes") == seconds * second.size(); });
  };
  for (int i = 0; i < 60; ++i) client.send_binary(second);
  REQUIRE(passed(60));
  const std::uint64_t before = resident_bytes();
  for (int i = 60; i < 3600; ++i) client.send_binary(second);
  REQUIRE(passed(3600));
  if (k_frees_memory) CHECK(resident_bytes() < before + (32 << 20));
  client.send(R"({"type":"session.end"})");
  CHECK(client.close_code() == 1000);
}

TEST_CASE("a token of a gateway that is gone is refused by the next one") {
  const Script script(k_media);
  Received received;
  std::string token;
  {
    GatewayPool before;
    before.add_worker();
    token = MediaClient(before, received).token();
  }
  GatewayPool after;
  SocketClient client = after.connect();
  client.send(start_with(token));
  CHECK(client.receive_json().at("code") == "resume_failed");
  CHECK(client.close_code() == 1008);
}
