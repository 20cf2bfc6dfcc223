// The sessions of a worker, over real connections.
#include "server/worker/session/worker_session.h"

#include <catch2/catch.hpp>

#include "tests/server/worker/running_worker.h"

using namespace navtalk;
using namespace navtalk::tests;

TEST_CASE("a session is answered, and its slot is free afterwards") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  {
    SocketClient client(worker.url(), session("a", 1, "&slot=0"));
    REQUIRE(client.connected());
    CHECK(ask("GET", worker.url() + "/healthz").body.at("state") == "running");
    client.send(R"({"type":"session.start","avatar":"bob"})");
    const auto ready = client.receive_json();
    CHECK(ready.at("type") == "session.ready");
    CHECK(ready.at("avatar") == "bob");
    CHECK(ready.at("video").at("height") == 480);
    client.send_binary("sound");
    client.send(R"({"type":"input.end"})");
    client.send(R"({"type":"interrupt"})");
    client.send(R"({"type":"session.end"})");
    CHECK(client.close_code() == 1000);
  }
  REQUIRE(worker.becomes("idle"));
  const std::string metrics = ask("GET", worker.url() + "/metrics").text;
  CHECK_THAT(metrics, Catch::Contains("navtalk_worker_media_bytes_total 5"));
  CHECK_THAT(metrics, Catch::Contains("navtalk_worker_sessions_total 1"));
}

TEST_CASE("all who wait for the loader are told how far it is, each of its own avatar") {
  EngineScript script;
  Running worker(script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  script.prepare_steps = 4;
  script.prepare_step_takes = 500ms;
  SocketClient first(worker.url(), session("a", 1));
  first.send(R"({"type":"session.start","avatar":"bob"})");
  auto told = first.receive_json();
  CHECK(told.at("type") == "session.preparing");
  CHECK(told.at("done") == 1);
  CHECK(told.at("total") == 250);
  SocketClient second(worker.url(), session("b", 2));
  second.send(R"({"type":"session.start","avatar":"eve"})");
  told = second.receive_json();
  CHECK(told.at("type") == "session.preparing");
  CHECK(told.at("total") == 0);  // bob's
  CHECK(first.receive_type("session.ready").at("avatar") == "bob");
  do {
    told = second.receive_json();
  } while (told.at("type") == "session.preparing" && told.at("total") == 0);
  CHECK(told.at("type") == "session.preparing");
  CHECK(told.at("total") == 250);  // its own
  CHECK(second.receive_type("session.ready").at("avatar") == "eve");
}

TEST_CASE("an avatar that lacks nothing does not wait for one that is made") {
  EngineScript script;
  Running worker(script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  script.at_hand.with([](auto& ids) { ids = {"eve"}; });
  script.hold_prepare = true;
  SocketClient first(worker.url(), session("a", 1));
  first.send(R"({"type":"session.start","avatar":"bob"})");
  SocketClient second(worker.url(), session("b", 2));
  second.send(R"({"type":"session.start","avatar":"eve"})");
  const auto ready = second.receive_json();
  script.hold_prepare = false;
  script.go.release();
  CHECK(ready.at("type") == "session.ready");
  CHECK(ready.at("avatar") == "eve");
  CHECK(first.receive_type("session.ready").at("avatar") == "bob");
}

TEST_CASE("the slot of a client that disconnects is free afterwards") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  REQUIRE(client.connected());
  client.vanish();
  CHECK(worker.becomes("idle"));
}

TEST_CASE("a client that does not answer pings counts as gone") {
  EngineScript script;
  Running worker(script, {.peer_idle_timeout = 400ms});
  REQUIRE(worker.becomes("idle"));
  RawClient client(worker.url());
  client.send("GET " + session("a", 1) +
              " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  REQUIRE_THAT(client.receive_until("\r\n\r\n"), Catch::Contains(" 101 "));
  CHECK(worker.becomes("idle"));
}

TEST_CASE("a malformed control frame is answered with an error, and the session goes on") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  for (const char* const text : {"nonsense", "[]", R"({"type":7})", R"({"type":"dance"})"}) {
    client.send(text);
    const auto error = client.receive_json();
    CHECK(error.at("type") == "error");
    CHECK(error.at("code") == "usage");
  }
  client.send(R"({"type":"session.start","avatar":"nobody"})");
  CHECK(client.receive_json().at("code") == "not_found");
  CHECK(client.close_code() == 1008);
}

TEST_CASE("a session that cannot start is told why, without the worker's paths") {
  const auto [avatar, code, closed] = GENERATE(table<std::string, std::string, int>({
      {"nobody", "not_found", 1008},
      {"broken", "invalid", 1008},
      {"../x", "usage", 1008},
      {"costly", "failed", 1011},
      {"bug", "failed", 1011},
  }));
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  {
    SocketClient client(worker.url(), session("a", 1));
    client.send(R"({"type":"session.start","avatar":")" + avatar + R"("})");
    const auto error = client.receive_json();
    CHECK(error.at("code") == code);
    CHECK_THAT(error.at("message").get<std::string>(), !Catch::Contains("/srv"));
    CHECK(client.close_code() == closed);
  }
  // However it failed, the slot is free and the worker well.
  REQUIRE(worker.becomes("idle"));
  SocketClient next(worker.url(), session("b", 2));
  next.send(R"({"type":"session.start"})");
  CHECK(next.receive_json().at("type") == "session.ready");
}

TEST_CASE("a width whose height would be out of bounds is refused, and not blamed on the avatar") {
  EngineScript script;  // its avatars have 640x480
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  client.send(R"({"type":"session.start","video":{"width":20}})");
  const auto error = client.receive_json();
  CHECK(error.at("code") == "usage");
  CHECK_THAT(error.at("message").get<std::string>(), Catch::Contains("15 pixels high"));
  CHECK(client.close_code() == 1008);
  SocketClient next(worker.url(), session("b", 2));
  next.send(R"({"type":"session.start","video":{"width":22}})");
  CHECK(next.receive_json().at("type") == "session.ready");
}

TEST_CASE("a width far beyond the avatar's own is refused, with the largest one that is not") {
  EngineScript script;  // its avatars have 640x480
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  client.send(R"({"type":"session.start","video":{"width":1921}})");
  const auto error = client.receive_json();
  CHECK(error.at("code") == "usage");
  CHECK_THAT(error.at("message").get<std::string>(), Catch::Contains("up to 1920 pixels wide"));
  CHECK(client.close_code() == 1008);
  SocketClient next(worker.url(), session("b", 2));
  next.send(R"({"type":"session.start","video":{"width":1920}})");
  CHECK(next.receive_json().at("type") == "session.ready");
}

TEST_CASE("long text of a client is neither echoed nor accepted") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  client.send(R"({"type":")" + std::string(4'000, 'x') + R"("})");
  CHECK(client.receive_json().at("message").get<std::string>().size() < 200);
  client.send(R"({"type":"session.start","avatar":")" + std::string(17'000, 'x') + R"("})");
  const auto error = client.receive_json();
  CHECK(error.at("code") == "invalid");
  CHECK_THAT(error.at("message").get<std::string>(), Catch::Contains("16384"));
  CHECK(client.close_code() == 1008);
}

TEST_CASE("a text frame that is too long does not end a session that runs") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  client.send(R"({"type":"session.start"})");
  REQUIRE(client.receive_json().at("type") == "session.ready");
  for (const std::size_t bytes : {5'000, 17'000}) {
    client.send(R"({"type":"input.text","text":")" + std::string(bytes, 'x') + R"("})");
    const auto error = client.receive_json();
    CHECK(error.at("code") == "usage");
    CHECK_THAT(error.at("message").get<std::string>(),
               Catch::Contains("at most 4096 bytes, not " + std::to_string(bytes + 31)));
  }
  client.send(R"({"type":"session.end"})");
  CHECK(client.close_code() == 1000);
}

TEST_CASE("an old epoch is refused, a newer one ends the session that holds the slot") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SocketClient old(worker.url(), session("a", 5, "&slot=0"));
  REQUIRE(old.connected());
  CHECK(SocketClient(worker.url(), session("b", 4, "&slot=0")).declined_status() == 409);
  SocketClient now(worker.url(), session("b", 6, "&slot=0"));
  REQUIRE(now.connected());
  CHECK(old.receive_json().at("code") == "superseded");
  CHECK(old.close_code() == 1001);
  now.send(R"({"type":"session.start"})");
  CHECK(now.receive_json().at("type") == "session.ready");
  CHECK(worker.sessions() == 1);
  CHECK(ask("GET", worker.url() + "/healthz").body.at("lease_epochs") == nlohmann::json({6}));
}

TEST_CASE("a full worker refuses, and so do wrong parameters") {
  EngineScript script;
  Running worker(script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  SocketClient first(worker.url(), session("a", 1)), second(worker.url(), session("b", 2));
  REQUIRE(first.connected());
  REQUIRE(second.connected());
  CHECK(SocketClient(worker.url(), session("c", 3)).declined_status() == 503);
  CHECK(SocketClient(worker.url(), session("c", 3, "&slot=2")).declined_status() == 400);
  CHECK(SocketClient(worker.url(), "/v1/session?lease=c&epoch=x").declined_status() == 400);
  CHECK(SocketClient(worker.url(), "/v1/session?epoch=3").declined_status() == 400);
  CHECK(SocketClient(worker.url(), "/v1/session?lease=c&epoch=-1").declined_status() == 400);
}

TEST_CASE("a session starts once: another session.start is refused and loads nothing") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  client.send(R"({"type":"session.start","avatar":"bob"})");
  CHECK(client.receive_json().at("type") == "session.ready");
  client.send(R"({"type":"session.start","avatar":"eve"})");
  const auto error = client.receive_json();
  CHECK(error.at("type") == "error");
  CHECK(error.at("code") == "usage");
  CHECK(script.prepared.with([](const auto& ids) { return ids; }) ==
        std::vector<std::string>{"ada", "bob"});
  client.send(R"({"type":"session.end"})");
  CHECK(client.close_code() == 1000);
}

TEST_CASE("a worker drops avatars that no session uses, but not the one of every session") {
  EngineScript script;
  script.avatar_bytes = 10;
  Running worker(script, {.slots = 2, .avatars = {.count = 9, .bytes = 10}});
  REQUIRE(worker.becomes("idle"));
  const auto start = [&](SocketClient& client, const std::string& avatar) {
    client.send(R"({"type":"session.start","avatar":")" + avatar + R"("})");
    CHECK(client.receive_json().at("type") == "session.ready");
  };
  const auto avatars = [&] { return ask("GET", worker.url() + "/healthz").body.at("avatars"); };
  SocketClient first(worker.url(), session("a", 1));
  start(first, "bob");
  for (int i = 0; i < 3; ++i) {
    SocketClient other(worker.url(), session("other" + std::to_string(i), 2 + i));
    start(other, "eve" + std::to_string(i));
    other.send(R"({"type":"session.end"})");
    CHECK(other.close_code() == 1000);
    REQUIRE(eventually([&] { return worker.sessions() == 1; }));
  }
  CHECK(avatars() == nlohmann::json({"ada", "bob", "eve2"}));
  CHECK(eventually([&] {
    return script.dropped.with([](const auto& ids) { return ids; }) ==
           std::vector<std::string>{"eve0", "eve1"};
  }));
  first.send(R"({"type":"session.end"})");
  CHECK(first.close_code() == 1000);
  CHECK(eventually([&] { return avatars() == nlohmann::json({"ada", "eve2"}); }));
  SocketClient again(worker.url(), session("again", 9));
  start(again, "bob");
}
