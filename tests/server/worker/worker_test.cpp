// The worker with an engine of the test's own, over real connections.
#include "server/worker/worker.h"

#include <catch2/catch.hpp>
#include <future>
#include <semaphore>

#include "core/base/error.h"
#include "tests/server/http/client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// What the engine was asked, and what it is told to do.
struct Script {
  std::binary_semaphore go{0};
  std::atomic<bool> hold_load = false, hold_prepare = false, fail_load = false;
  std::atomic<int> loads = 0, unloads = 0;
  std::atomic<std::chrono::milliseconds> load_takes{};
};

Engine engine_of(Script& script) {
  return {.load =
              [&script](const Heartbeat&) {
                if (script.hold_load) script.go.acquire();
                std::this_thread::sleep_for(script.load_takes.load());
                if (script.fail_load) throw Error(Code::invalid, "the weights are broken");
                ++script.loads;
              },
          .unload = [&script] { ++script.unloads; },
          .prepare =
              [&script](const std::string& avatar, const Heartbeat&) {
                if (script.hold_prepare) script.go.acquire();
                if (avatar == "nobody") throw Error(Code::not_found, "/srv/nobody: no such file");
                if (avatar == "broken") throw Error(Code::invalid, "/srv/broken is broken");
                if (avatar == "../x") throw Error(Code::usage, "/srv/../x is not an id");
                if (avatar == "costly") throw Error(Code::failed, "/srv/disk is full");
                if (avatar == "bug") throw std::bad_alloc();
                return AvatarSize{640, 480, 25};
              },
          .use = [] { return DeviceUse{.name = "test", .memory_total = 100, .memory_used = 40}; }};
}

class Running {
 public:
  explicit Running(Script& script, WorkerOptions options = {})
      : worker_(with_defaults(std::move(options)), engine_of(script)) {
    result_ = std::async(std::launch::async, [this] { worker_.run(stop_.get_token()); });
  }
  ~Running() {
    stop();
    result_.wait();
  }
  std::string url() const { return worker_.url(); }
  void stop() { stop_.request_stop(); }
  // Throws what run() threw.
  bool ends() {
    if (result_.wait_for(20s) != std::future_status::ready) return false;
    std::future<void> over = std::exchange(result_, std::async(std::launch::deferred, [] {}));
    over.get();
    return true;
  }
  bool becomes(const std::string& state) {
    return eventually([&] { return ask("GET", url() + "/healthz").body.at("state") == state; });
  }
  int sessions() { return ask("GET", url() + "/healthz").body.at("sessions"); }

 private:
  static WorkerOptions with_defaults(WorkerOptions options) {
    options.avatar = "ada";
    return options;
  }
  std::stop_source stop_;
  Worker worker_;
  std::future<void> result_;
};

std::string session(const std::string& lease, int epoch, const std::string& more = "") {
  return "/v1/session?lease=" + lease + "&epoch=" + std::to_string(epoch) + more;
}

}  // namespace

TEST_CASE("a worker answers while it loads, and says so") {
  Script script;
  script.hold_load = true;
  Running worker(script);
  const Got loading = ask("GET", worker.url() + "/healthz");
  CHECK(loading.status == 503);
  CHECK(loading.body.at("state") == "starting");
  CHECK(loading.body.at("error").at("code") == "starting");
  CHECK(SocketClient(worker.url(), session("a", 1)).declined_status() == 503);
  script.go.release();
  REQUIRE(worker.becomes("idle"));
  const Got ready = ask("GET", worker.url() + "/healthz");
  CHECK(ready.status == 200);
  CHECK(ready.body.at("slots") == 1);
  CHECK(ready.body.at("avatars") == nlohmann::json({"ada"}));
  CHECK(ready.body.at("gpu").at("vram_total") == 100);
  CHECK(ready.headers.find("x-navtalk-protocol")->second == "1");
}

TEST_CASE("a worker that cannot load ends with the reason") {
  Script script;
  script.fail_load = true;
  Running worker(script);
  CHECK_THROWS_WITH(worker.ends(), "the weights are broken");
}

TEST_CASE("a session is answered, and its slot is free afterwards") {
  Script script;
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

TEST_CASE("the slot of a client that disconnects is free afterwards") {
  Script script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  REQUIRE(client.connected());
  client.vanish();
  CHECK(worker.becomes("idle"));
}

TEST_CASE("a client that does not answer pings counts as gone") {
  Script script;
  Running worker(script, {.peer_idle_timeout = 400ms});
  REQUIRE(worker.becomes("idle"));
  RawClient client(worker.url());
  client.send("GET " + session("a", 1) +
              " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  REQUIRE_THAT(client.receive_until("\r\n\r\n"), Catch::Contains(" 101 "));
  CHECK(worker.becomes("idle"));
}

TEST_CASE("a malformed control frame is answered with an error, and the session goes on") {
  Script script;
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
  Script script;
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

TEST_CASE("long text of a client is neither echoed nor accepted") {
  Script script;
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

TEST_CASE("every worker has an instance of its own, and keeps it") {
  Script script;
  Running one(script), other(script);
  const auto instance = [](const Running& worker) {
    return ask("GET", worker.url() + "/healthz").body.at("instance").get<std::string>();
  };
  CHECK(instance(one).size() == 32);
  CHECK(instance(one) == instance(one));
  CHECK(instance(one) != instance(other));
}

TEST_CASE("an old epoch is refused, a newer one ends the session that holds the slot") {
  Script script;
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
  Script script;
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

TEST_CASE("pause takes the weights off the device and wake puts them back, not under a session") {
  Script script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  {
    SocketClient client(worker.url(), session("a", 1));
    CHECK(ask("POST", worker.url() + "/v1/pause").status == 409);
  }
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  CHECK(script.unloads == 1);
  const Got paused = ask("GET", worker.url() + "/healthz");
  CHECK(paused.status == 200);
  CHECK(paused.body.at("state") == "paused");
  CHECK(SocketClient(worker.url(), session("a", 2)).declined_status() == 503);
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  CHECK(script.unloads == 1);  // done already
  CHECK(ask("POST", worker.url() + "/v1/wake").status == 200);
  CHECK(script.loads == 2);
  CHECK(ask("POST", worker.url() + "/v1/wake").status == 200);
  CHECK(script.loads == 2);
  CHECK(SocketClient(worker.url(), session("a", 3)).connected());
}

TEST_CASE("a wake may take longer than a stuck loop, and succeeds") {
  Script script;
  Running worker(script, {.stuck_after = 400ms});
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  script.load_takes = 600ms;
  const Got wake = ask("POST", worker.url() + "/v1/wake");
  CHECK(wake.status == 200);
  CHECK(wake.body.at("state") == "idle");
}

TEST_CASE("a wake that fails is an error, and the worker stays failed") {
  Script script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  script.fail_load = true;
  const Got wake = ask("POST", worker.url() + "/v1/wake");
  CHECK(wake.status == 503);
  CHECK(wake.body.at("error").at("message") == "the weights are broken");
  CHECK(ask("GET", worker.url() + "/healthz").body.at("state") == "failed");
}

TEST_CASE("health is that of the work loop, not of the HTTP server") {
  Script script;
  Running worker(script, {.stuck_after = 600ms});
  REQUIRE(worker.becomes("idle"));
  script.hold_prepare = true;
  auto prepared = std::async(std::launch::async, [&] {
    return ask("POST", worker.url() + "/v1/prepare", R"({"avatar":"bob"})").status;
  });
  REQUIRE(worker.becomes("stuck"));
  CHECK(ask("GET", worker.url() + "/healthz").status == 503);
  CHECK(SocketClient(worker.url(), session("a", 1)).declined_status() == 503);
  script.go.release();
  CHECK(prepared.get() == 200);
  CHECK(worker.becomes("idle"));
}

TEST_CASE(
    "a drain tells the sessions, accepts no new ones, ends within its notice, and can be "
    "cancelled") {
  Script script;
  Running worker(script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  // Its answer shows that the session is there.
  client.send(R"({"type":"session.start"})");
  CHECK(client.receive_json().at("type") == "session.ready");
  const Got drain = ask("POST", worker.url() + "/v1/drain", R"({"notice_s": 0.3})");
  CHECK(drain.status == 202);
  CHECK(drain.body.at("sessions") == 1);
  CHECK(client.receive_json() == nlohmann::json({{"type", "session.draining"}, {"notice_s", 0.3}}));
  CHECK(SocketClient(worker.url(), session("b", 2)).declined_status() == 503);
  CHECK(client.receive_json().at("code") == "drained");
  CHECK(client.close_code() == 1001);
  REQUIRE(worker.becomes("stopping"));
  CHECK(ask("POST", worker.url() + "/v1/wake").status == 200);
  CHECK(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/drain", R"({"notice_s": -1})").status == 400);
  CHECK(ask("POST", worker.url() + "/v1/drain", R"({"notice_s": "soon"})").status == 400);
}

TEST_CASE("prepare loads an avatar, or answers 404") {
  Script script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/prepare", R"({"avatar":"bob"})").body.at("width") == 640);
  CHECK(ask("POST", worker.url() + "/v1/prepare", R"({"avatar":"nobody"})").status == 404);
  CHECK(ask("POST", worker.url() + "/v1/prepare", "{}").status == 400);
}

TEST_CASE("only requests with the token and of this protocol version are answered") {
  Script script;
  Running worker(script, {.token = "sesame"});
  CHECK(ask("GET", worker.url() + "/healthz").status == 401);
  CHECK(ask("GET", worker.url() + "/metrics", "", {{"Authorization", "Bearer open"}}).status ==
        401);
  const Headers good = {{"Authorization", "Bearer sesame"}};
  REQUIRE(
      eventually([&] { return ask("GET", worker.url() + "/healthz", "", good).status == 200; }));
  for (const auto& [version, status] : std::vector<std::pair<std::string, int>>{
           {"1", 200}, {"1.7", 200}, {"2", 426}, {"10", 426}, {"x", 426}}) {
    Headers headers = good;
    headers.emplace_back("X-Navtalk-Protocol", version);
    CHECK(ask("GET", worker.url() + "/healthz", "", headers).status == status);
  }
  const Headers other = {{"Authorization", "Bearer sesame"}, {"X-Navtalk-Protocol", "2"}};
  CHECK(SocketClient(worker.url(), session("a", 1), other).declined_status() == 426);
}

TEST_CASE("without a token a worker listens on loopback only") {
  Script script;
  CHECK_THROWS_WITH(Worker({.listen = "0.0.0.0:0"}, engine_of(script)),
                    Catch::Contains("needs a token"));
}

TEST_CASE("a worker that no gateway speaks to ends by itself, but not during a session") {
  Script script;
  Running worker(script, {.gateway_timeout = 300ms});
  REQUIRE(worker.becomes("idle"));
  {
    SocketClient client(worker.url(), session("a", 1));
    client.send(R"({"type":"session.start"})");
    CHECK(client.receive_json().at("type") == "session.ready");
  }
  CHECK(worker.ends());
}

TEST_CASE("a worker that no gateway ever spoke to ends after its first-contact time") {
  Script script;
  Running worker(script, {.gateway_timeout = 20s, .first_contact = 300ms});
  CHECK(worker.ends());
}

TEST_CASE("a stop gives sessions their notice and ends") {
  Script script;
  Running worker(script, {.stop_notice = 200ms});
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  // Its answer shows that the session is there.
  client.send(R"({"type":"session.start"})");
  CHECK(client.receive_json().at("type") == "session.ready");
  worker.stop();
  CHECK(client.receive_json().at("type") == "session.draining");
  CHECK(client.receive_json().at("code") == "drained");
  CHECK(client.close_code() == 1001);
  CHECK(worker.ends());
}

TEST_CASE("a stop does not wait for a peer that answers nothing") {
  Script script;
  Running worker(script, {.stop_notice = 200ms});
  REQUIRE(worker.becomes("idle"));
  RawClient client(worker.url());
  client.send("GET " + session("a", 1) +
              " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  REQUIRE_THAT(client.receive_until("\r\n\r\n"), Catch::Contains(" 101 "));
  worker.stop();
  CHECK(worker.ends());
}
