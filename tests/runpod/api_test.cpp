// The client against the fake: what is repeated, what is not, and what ends it.
#include "runpod/api/api.h"

#include <catch2/catch.hpp>
#include <future>
#include <nlohmann/json.hpp>

#include "tests/core/expect_error.h"
#include "tests/runpod/scene.h"

using namespace navtalk;
using namespace navtalk::runpod;
using namespace std::chrono_literals;
using tests::quick_api;
using tests::RunpodServer;
using Kind = ApiFault::Kind;

namespace {

using tests::k_never;
const ApiKey k_key("not-a-key");

NewPod order() {
  NewPod pod{.name = "navtalk-test-1", .image = "image", .gpu_type = "RTX 4090"};
  pod.cloud = "SECURE";
  return pod;
}

template <class T>
ApiFault fault_in(const ApiResult<T>& result) {
  REQUIRE(std::holds_alternative<ApiFault>(result));
  return std::get<ApiFault>(result);
}

}  // namespace

TEST_CASE("a list of any number of pages is one list") {
  RunpodServer server;
  for (int i = 0; i < 7; ++i) server.add_pod("pod-" + std::to_string(i));
  server.page_size(GENERATE(0, 3, 7, 100));
  Api api(quick_api(server), k_key);
  const PodList list = api.list(k_never);
  CHECK_FALSE(list.fault);
  CHECK(list.pods.size() == 7);
}

TEST_CASE("a list that loses a page says so") {
  RunpodServer server;
  for (int i = 0; i < 4; ++i) server.add_pod("pod-" + std::to_string(i));
  server.page_size(2);
  auto broken = tests::fault_named("server-error", "list");
  broken.skip = 1;
  broken.times = -1;
  server.fault(broken);
  Api api(quick_api(server), k_key);
  const PodList list = api.list(k_never);
  REQUIRE(list.fault);
  CHECK(list.fault->kind == Kind::unknown);
  CHECK(list.pods.size() == 2);
}

TEST_CASE("a list whose pages go in circles, or hold what is no pod, is not whole") {
  const auto body = GENERATE(R"({"pods":[{"id":"a"}],"pagination":{"nextCursor":"same"}})",
                             R"({"pods":[{"id":"a"},{}]})", R"({"pods":"none"})", "{}", "<html>");
  RunpodServer server;
  server.fault({.call = "list", .times = -1, .status = 200, .body = body});
  Api api(quick_api(server), k_key);
  const PodList list = api.list(k_never);
  REQUIRE(list.fault);
  CHECK(list.fault->kind == Kind::malformed);
}

TEST_CASE("what passes is tried again, five times in all, for calls that may be repeated") {
  RunpodServer server;
  const std::string id = server.add_pod("pod");
  Api api(quick_api(server), k_key);
  const std::string name = GENERATE("server-error", "garbage");
  const auto ask = [&](const std::string& call) -> std::optional<ApiFault> {
    const auto fault_of_any = [](const auto& result) {
      const auto* fault = std::get_if<ApiFault>(&result);
      return fault != nullptr ? std::optional(*fault) : std::nullopt;
    };
    if (call == "list") return api.list(k_never).fault;
    if (call == "get") return fault_of_any(api.pod(id, k_never));
    if (call == "stop") return fault_of_any(api.stop_pod(id, k_never));
    return fault_of_any(api.remove(id, k_never));
  };
  for (const char* call : {"list", "get", "stop", "delete"}) {
    CAPTURE(call, name);
    server.fault(call, name, 5);
    const auto fault = ask(call);
    REQUIRE(fault);
    CHECK(fault->kind == Kind::unknown);
    CHECK(server.count(call) == 5);
    server.fault(call, name, 4);
    CHECK_FALSE(ask(call));
    CHECK(server.count(call) == 10);
  }
}

TEST_CASE("the catalog, which one can do without, is asked once") {
  RunpodServer server;
  server.fault("catalog", "server-error", -1);
  Api api(quick_api(server), k_key);
  CHECK(fault_in(api.gpu_offers("SECURE", k_never)).kind == Kind::unknown);
  CHECK(server.count("catalog") == 1);
}

TEST_CASE("what is never tried again is asked once") {
  const std::string name =
      GENERATE("broken-rule", "bad-key", "no-money", "forbidden", "edge-text", "edge-html",
               "not-found", "conflict", "api-gone", "too-large", "unprocessable");
  CAPTURE(name);
  RunpodServer server;
  const std::string id = server.add_pod("pod");
  server.fault("*", name, -1);
  Api api(quick_api(server), k_key);
  CHECK(api.list(k_never).fault);
  CHECK(server.count("list") == 1);
  fault_in(api.remove(id, k_never));
  CHECK(server.count("delete") == 1);
  fault_in(api.start(id, k_never));
  CHECK(server.count("start") == 1);
  fault_in(api.create(order(), k_never));
  CHECK(server.count("create") == 1);
}

TEST_CASE("a create that may have been done is never sent again") {
  RunpodServer server;
  const std::string name = GENERATE("server-error", "done-but-500", "done-but-reset", "garbage",
                                    "reset", "rate-limited");
  CAPTURE(name);
  server.fault("create", name, -1);
  Api api(quick_api(server), k_key);
  const ApiFault fault = fault_in(api.create(order(), k_never));
  CHECK(fault.kind == (name == "rate-limited" ? Kind::rate_limited : Kind::unknown));
  CHECK(server.count("create") == 1);
  CHECK(server.pods().size() == (name.starts_with("done") ? 1 : 0));
}

TEST_CASE("the outcome of a create that is answered too late is unknown") {
  RunpodServer server;
  server.fault("create", "done-but-silent");
  ApiOptions options = quick_api(server);
  options.slow_timeout = 1s;
  Api api(options, k_key);
  CHECK(fault_in(api.create(order(), k_never)).kind == Kind::unknown);
  for (const auto until = std::chrono::steady_clock::now() + 20s;
       server.pods().empty() && std::chrono::steady_clock::now() < until; std::this_thread::yield())
    continue;
  CHECK(server.pods().size() == 1);
}

TEST_CASE("a create that answers with what is no pod may have made one") {
  RunpodServer server;
  server.fault({.call = "create", .acts = true, .status = 201, .body = "{}"});
  Api api(quick_api(server), k_key);
  CHECK(fault_in(api.create(order(), k_never)).kind == Kind::malformed);
}

TEST_CASE("a create that never left is tried again") {
  ApiOptions options;
  {
    const RunpodServer gone;
    options = quick_api(gone);
  }
  Api api(options, k_key);
  CHECK(fault_in(api.create(order(), k_never)).kind == Kind::unreachable);
}

TEST_CASE("the server's Retry-After is the least wait") {
  RunpodServer server;
  server.fault("list", "rate-limited");  // for one second
  Api api(quick_api(server), k_key);
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(api.list(k_never).fault);
  CHECK(std::chrono::steady_clock::now() - start >= 1s);
  CHECK(server.count("list") == 2);
}

TEST_CASE("a wait that is longer than anybody's patience is not waited") {
  RunpodServer server;
  tests::RunpodFault limited = tests::fault_named("rate-limited", "list");
  limited.headers = {{"Retry-After", "900"}};
  server.fault(limited);
  Api api(quick_api(server), k_key);
  const PodList list = api.list(k_never);
  REQUIRE(list.fault);
  CHECK(list.fault->kind == Kind::rate_limited);
  CHECK(list.fault->retry_after == 900s);
  CHECK(api.quota_wait() > 800s);
  // and nobody else asks meanwhile
  CHECK(fault_in(api.create(order(), k_never)).kind == Kind::rate_limited);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("a quota that a success says is used up is respected") {
  RunpodServer server;
  server.rate_header("\"minute\";r=0;t=50, \"hour\";r=0;t=700");
  Api api(quick_api(server), k_key);
  CHECK_FALSE(api.list(k_never).fault);
  CHECK(api.quota_wait() > 600s);
  CHECK(api.list(k_never).fault->kind == Kind::rate_limited);
  CHECK(server.count("list") == 1);
}

TEST_CASE("a call ends at its deadline, however often it may be repeated") {
  RunpodServer server;
  const std::string id = server.add_pod("pod");
  server.fault("*", "silent", -1);
  ApiOptions options = quick_api(server);
  options.timeout = options.slow_timeout = 400ms;
  options.deadline = options.slow_deadline = 500ms;
  Api api(options, k_key);
  CHECK(api.list(k_never).fault->kind == Kind::unknown);
  CHECK(server.count("list") <= 2);  // of five
  CHECK(fault_in(api.remove(id, k_never)).kind == Kind::unknown);
  CHECK(server.count("delete") <= 2);
  CHECK(fault_in(api.start(id, k_never)).kind == Kind::unknown);
  CHECK(server.count("start") <= 2);
}

TEST_CASE("a wait that leads past the deadline is not waited") {
  RunpodServer server;
  tests::RunpodFault limited = tests::fault_named("rate-limited", "list");
  limited.headers = {{"Retry-After", "30"}};
  limited.times = -1;
  server.fault(limited);
  ApiOptions options = quick_api(server);
  options.retry.patience = 60s;
  options.deadline = 10s;
  Api api(options, k_key);
  CHECK(api.list(k_never).fault->kind == Kind::rate_limited);
  CHECK(server.count("list") == 1);
  // Nor for a quota that is used up.
  CHECK(api.list(k_never).fault->kind == Kind::rate_limited);
  CHECK(server.count("list") == 1);
}

TEST_CASE("the deadline of a list holds for all its pages") {
  RunpodServer server;
  for (int i = 0; i < 20; ++i) server.add_pod("pod-" + std::to_string(i));
  server.page_size(1);
  server.fault({.call = "list", .times = -1, .delay = 100ms, .status = 0});
  ApiOptions options = quick_api(server);
  options.retry.tries = 1;
  options.deadline = 350ms;
  Api api(options, k_key);
  CHECK(api.list(k_never).fault);
  CHECK(server.count("list") < 20);
}

TEST_CASE("a stop request ends calls and waits at once") {
  RunpodServer server;
  Api api({.url = server.api_url(), .retry = {.first = 60s, .most = 60s, .patience = 600s}}, k_key);
  const std::string name = GENERATE("silent", "rate-limited");
  tests::RunpodFault fault = tests::fault_named(name, "list");
  if (name == "rate-limited") fault.headers = {{"Retry-After", "60"}};
  fault.times = -1;
  server.fault(fault);
  std::stop_source stop;
  auto list = std::async(std::launch::async, [&] { return api.list(stop.get_token()); });
  while (server.count("list") == 0) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  stop.request_stop();
  CHECK(list.get().fault);
  CHECK(std::chrono::steady_clock::now() - start < 30s);
}

TEST_CASE("a delete's empty answer is read as done, whatever its status in 2xx") {
  RunpodServer server;
  const std::string id = server.add_pod("pod");
  Api api(quick_api(server), k_key);
  CHECK(std::holds_alternative<Nothing>(api.remove(id, k_never)));
  CHECK(fault_in(api.remove("never", k_never)).kind == Kind::not_found);
}

TEST_CASE("a pod's id from the server stays one part of the path") {
  RunpodServer server;
  Api api(quick_api(server), k_key);
  fault_in(api.remove("../pods/x?y#z", k_never));
  CHECK(server.requests().back().second.target == "/v2/pods/%2E%2E%2Fpods%2Fx%3Fy%23z");
}

TEST_CASE("every call carries the key and navtalk's name, and no message repeats the key") {
  RunpodServer server;
  server.fault({.call = "list", .status = 401, .body = tests::problem_body(401, "bad not-a-key")});
  Api api(quick_api(server), k_key);
  const PodList list = api.list(k_never);
  const auto seen = server.requests().back().second;
  CHECK(seen.header("authorization") == "Bearer not-a-key");
  CHECK_THAT(seen.header("user-agent"), Catch::StartsWith("navtalk/"));
  CHECK_THAT(list.fault->message, !Catch::Contains("not-a-key"));
  CHECK_THAT(list.fault->message, Catch::Contains("request-"));  // x-request-id, for support
}

TEST_CASE("several threads may call at once") {
  RunpodServer server;
  for (int i = 0; i < 5; ++i) server.add_pod("pod-" + std::to_string(i));
  Api api(quick_api(server), k_key);
  std::vector<std::future<std::size_t>> lists;
  for (int i = 0; i < 8; ++i) {
    lists.push_back(std::async(std::launch::async, [&] { return api.list(k_never).pods.size(); }));
  }
  for (auto& list : lists) CHECK(list.get() == 5);
}

TEST_CASE("an invalid API URL is refused") {
  test::expect_error(Code::invalid, {"URL"}, [] { Api({.url = "api.runpod.io"}, k_key); });
}
