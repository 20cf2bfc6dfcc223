// Creating pods, and what the provider is told to do; against the fake, one documented misbehaviour
// after the other.
#include "runpod/runpod_provider.h"

#include <catch2/catch.hpp>
#include <future>
#include <nlohmann/json.hpp>

#include "runpod/own_pod.h"
#include "tests/core/expect_error.h"
#include "tests/runpod/scene.h"

using namespace navtalk;
using namespace std::chrono_literals;
using nlohmann::json;
using tests::is;
using tests::quick_options;
using tests::row;
using tests::RunpodServer;
using tests::Scene;
using Status = Instance::Status;

namespace {

using tests::k_never;

json last_order(const RunpodServer& server) {
  json order;
  for (const auto& [call, request] : server.requests()) {
    if (call == "create") order = json::parse(request.body);
  }
  return order;
}

std::vector<std::string> candidates_asked(const RunpodServer& server) {
  std::vector<std::string> candidates;
  for (const auto& [call, request] : server.requests()) {
    if (call != "create") continue;
    const json order = json::parse(request.body);
    candidates.push_back(order["gpu"]["id"].get<std::string>() + " " +
                         order["dataCenterIds"][0].get<std::string>());
  }
  return candidates;
}

}  // namespace

TEST_CASE("a created pod carries its name, its ids, its own token and its dead man") {
  Scene scene;
  const Instance made = *is<Done>(scene.create("a")).instance;
  const json order = last_order(scene.server);
  CHECK(order["name"] == "navtalk-test-0123abcd-a");
  CHECK(order["image"] == "registry.invalid/navtalk@sha256:0");
  CHECK(order["gpu"] == json({{"id", "RTX 4090"}, {"count", 1}}));
  CHECK(order["ports"] == json::array({"2160/http"}));
  CHECK(order["args"] == "serve --worker --listen 0.0.0.0:2160 --slots 2 --gateway-silence-s 600");
  const json& env = order["env"];
  CHECK(env["POD_POOL_ID"] == "0123abcd");
  CHECK(env["POD_GPU_ID"] == "gpu-a");
  CHECK(env["NAVTALK_WORKER_TOKEN"] == tests::k_tokens.of_worker("navtalk-test-0123abcd-a"));
  CHECK(env["POD_DEAD_MAN_S"] == "600");
  CHECK(env["POD_DEAD_MAN_API_URL"] == scene.server.api_url());

  CHECK(made.provider_id == scene.server.pods().at(0).id);
  CHECK(made.name == "navtalk-test-0123abcd-a");
  CHECK(made.url == "http://127.0.0.1:" + made.provider_id);
  CHECK(made.device == "RTX 4090");
  CHECK(made.usd_per_hour == 0.5);
}

TEST_CASE("the worker's URL follows the pattern") {
  const RunpodServer server;
  runpod::ProviderOptions options = quick_options(server);
  options.proxy_url = "https://{pod}-{port}.proxy.runpod.net";
  const runpod::RunpodProvider provider(options, runpod::ApiKey("k"));
  CHECK(provider.url("7h9k") == "https://7h9k-2160.proxy.runpod.net");
}

TEST_CASE("a candidate without capacity is skipped, and gets a cooldown") {
  Scene scene;
  scene.server.full({"RTX 4090|*|EU-RO-1"});
  scene.made("a");
  scene.made("b");
  CHECK(candidates_asked(scene.server) ==
        std::vector<std::string>{"RTX 4090 EU-RO-1", "RTX 4090 US-KS-2", "RTX 4090 US-KS-2"});
}

TEST_CASE(
    "when every candidate is full there is no capacity, and no request until a cooldown is over") {
  Scene scene;
  scene.server.full({"*|*|*"});
  CHECK_THAT(is<NoCapacity>(scene.create("a")).message, Catch::Contains("no longer any instances"));
  CHECK(scene.server.count("create") == 4);
  CHECK(scene.provider.creatable({}) == 0);
  const Outcome again = scene.create("b");
  CHECK(is<NoCapacity>(again).retry_after > 50s);
  CHECK(is<NoCapacity>(again).retry_after <= 60s);
  CHECK(scene.server.count("create") == 4);
}

TEST_CASE("when every candidate gives 400 for an unknown reason the request is suspected") {
  Scene scene;
  scene.server.fault("create", "broken-rule", -1);
  const auto refused = is<Refused>(scene.create("a"));
  CHECK_FALSE(refused.account);
  CHECK_THAT(refused.message, Catch::Contains("the request may be wrong"));
  CHECK(scene.server.count("create") == 4);
  CHECK(scene.provider.creatable({}) == 0);
}

TEST_CASE("one candidate without a reason among full ones is still no capacity") {
  Scene scene;
  scene.server.fault("create", "broken-rule", 1);
  scene.server.fault("create", "no-capacity", -1);
  is<NoCapacity>(scene.create("a"));
}

TEST_CASE("a pool of GPUs that this account may not use is passed over") {
  Scene scene;
  scene.server.fault("create", "forbidden", 1);
  scene.made("a");
  CHECK(scene.server.count("create") == 2);
}

TEST_CASE("an account that is refused is not asked again for a while") {
  const std::string name = GENERATE("bad-key", "no-money", "api-gone", "edge-text", "edge-html");
  CAPTURE(name);
  Scene scene;
  scene.server.fault("create", name, 1);
  CHECK(is<Refused>(scene.create("a")).account);
  CHECK(scene.provider.creatable({}) == 0);
  is<NoCapacity>(scene.create("b"));
  CHECK(scene.server.count("create") == 1);
}

TEST_CASE("a key that may create nowhere is an account's refusal") {
  Scene scene;
  scene.server.fault("create", "forbidden", -1);
  CHECK(is<Refused>(scene.create("a")).account);
}

TEST_CASE("a bad request is refused at once, and says nothing about the account") {
  const std::string name = GENERATE("unprocessable", "too-large", "not-found");
  Scene scene;
  scene.server.fault("create", name, -1);
  CHECK_FALSE(is<Refused>(scene.create("a")).account);
  CHECK(scene.server.count("create") == 1);
}

TEST_CASE("a create whose outcome is unknown ends there, and the list finds what it made") {
  const std::string name = GENERATE("done-but-500", "done-but-reset", "server-error", "reset");
  CAPTURE(name);
  Scene scene;
  scene.server.fault("create", name, -1);
  is<UnknownOutcome>(scene.create("a"));
  CHECK(scene.server.count("create") == 1);
  const Listing listing = scene.provider.list(k_never);
  CHECK(listing.complete);
  CHECK(listing.instances.size() == (name.starts_with("done") ? 1 : 0));
}

TEST_CASE("a rate-limited create made nothing, and waits as long as it is told") {
  Scene scene;
  tests::RunpodFault limited = tests::fault_named("rate-limited", "create");
  limited.headers = {{"Retry-After", "40"}};
  scene.server.fault(limited);
  CHECK(is<NoCapacity>(scene.create("a")).retry_after >= 39s);
  CHECK(scene.server.count("create") == 1);
  CHECK(scene.provider.creatable({}) == 0);
}

TEST_CASE("creating goes on without a catalog") {
  Scene scene;
  scene.server.fault("catalog", "not-found", -1);
  scene.made("a");
  CHECK(scene.provider.expected_usd_per_hour() == 1);
}

TEST_CASE("the expected price is that of the candidate which is asked next") {
  Scene scene;
  CHECK(scene.provider.expected_usd_per_hour() == 1);  // nothing is known yet
  scene.provider.learn_prices(k_never);
  CHECK(scene.provider.expected_usd_per_hour() == 0.44);
  scene.made("a");
  CHECK(scene.provider.expected_usd_per_hour() == 0.44);
  scene.server.full({"RTX 4090|*|*"});
  scene.made("b");
  CHECK(scene.provider.expected_usd_per_hour() == 2.5);
}

TEST_CASE("a type above its own limit is not asked, and neither is one without a price") {
  RunpodServer server;
  runpod::ProviderOptions options = quick_options(server);
  const auto asked_with = [&](std::map<std::string, double> limits) {
    options.preferences.max_usd_per_hour = std::move(limits);
    runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
    const std::size_t before = candidates_asked(server).size();
    const Outcome outcome = provider.create(row("x" + std::to_string(before)), k_never);
    const auto all = candidates_asked(server);
    return std::pair(outcome, all.size() > before ? all.back() : "");
  };
  CHECK(asked_with({{"RTX 4090", 0.44}}).second.starts_with("RTX 4090"));
  CHECK(asked_with({{"SECURE", 0.44}}).second.starts_with("RTX 4090"));
  CHECK(asked_with({{"RTX 4090, SECURE", 0.43}}).second.starts_with("H100"));
  CHECK(asked_with({{"RTX 4090, COMMUNITY", 0.01}}).second.starts_with("RTX 4090"));
  CHECK(asked_with({{"RTX 4090", 1}, {"SECURE", 0.43}}).second.empty());
  const auto dearer = asked_with({{"RTX 4090", 0.43}});
  CHECK(dearer.second.starts_with("H100"));
  const auto none = asked_with({{"RTX 4090", 0.43}, {"H100", 2.49}});
  CHECK(none.second.empty());
  CHECK_THAT(is<NoCapacity>(none.first).message, Catch::Contains("runpod.max_usd_per_type"));
  options.preferences.gpu_types = {"RTX 9999"};
  CHECK(asked_with({{"RTX 9999", 100}}).second.empty());
}

TEST_CASE("a price limit is a type and dollars, and nothing else") {
  const auto limit = runpod::parse_price_limit("RTX 4090=0.80");
  CHECK(limit.first == "RTX 4090");
  CHECK(limit.second == 0.8);
  CHECK(runpod::parse_price_limit("A=B=2").first == "A=B");
  for (const char* text : {"", "RTX 4090", "=1", "RTX 4090=", "RTX 4090=x", "RTX 4090=0",
                           "RTX 4090=-1", "RTX 4090=nan", "RTX 4090=1e9"}) {
    INFO(text);
    const Error error = test::error_of([&] { runpod::parse_price_limit(text); });
    CHECK(error.code() == Code::invalid);
    CHECK_THAT(error.message(), Catch::Contains("RTX 4090=0.80"));
  }
}

TEST_CASE("a pod is ordered with its registry, its CUDA version and its volume") {
  RunpodServer server;
  runpod::ProviderOptions options = quick_options(server);
  options.registry = "credentials-1";
  options.min_cuda = "13.0";
  options.volume_id = "volume-1";
  options.volume_path = "/models";
  options.preferences.data_centers = {"EU-RO-1"};
  runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
  is<Done>(provider.create(row("a"), k_never));
  const json order = last_order(server);
  CHECK(order["registry"] == "credentials-1");
  CHECK(order["gpu"]["minCudaVersion"] == "13.0");
  CHECK_THAT(order.dump(), Catch::Contains("volume-1") && Catch::Contains("/models"));
}

TEST_CASE("a candidate above what the spending cap leaves is not asked") {
  RunpodServer server;
  server.full({"RTX 4090|*|*"});
  runpod::ProviderOptions options = quick_options(server);
  options.cooldown = 0ms;
  double budget = 1.0;
  options.cap =
      runpod::SpendingCap{.reserve = [&](const Gpu&, double usd) { return usd <= budget; },
                          .seen = [](const std::string&) { return 0.0; }};
  runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
  is<NoCapacity>(provider.create(row("a"), k_never));
  CHECK(candidates_asked(server) ==
        std::vector<std::string>{"RTX 4090 EU-RO-1", "RTX 4090 US-KS-2"});
  budget = 0.1;
  CHECK_THAT(is<NoCapacity>(provider.create(row("a"), k_never)).message,
             Catch::Contains("cap on spending"));
  CHECK(server.count("create") == 2);
  budget = 2.5;
  is<Done>(provider.create(row("a"), k_never));
  CHECK(candidates_asked(server).back() == "H100 EU-RO-1");
}

TEST_CASE("there is room up to the cap on pods") {
  const RunpodServer server;
  runpod::ProviderOptions options = quick_options(server);
  options.max_pods = 2;
  const runpod::RunpodProvider provider(options, runpod::ApiKey("k"));
  Gpu local = row("l");
  local.source = Source::local;
  CHECK(provider.creatable({}) == 2);
  CHECK(provider.creatable({row("a"), local}) == 1);
  CHECK(provider.creatable({row("a"), row("b")}) == 0);
}

TEST_CASE("a stop request ends a create, and its outcome is unknown") {
  Scene scene;
  scene.server.fault("create", "done-but-silent", -1);
  auto outcome = std::async(std::launch::async, [&] { return scene.create("a"); });
  while (scene.server.count("create") == 0) std::this_thread::yield();
  scene.stop.request_stop();
  is<UnknownOutcome>(outcome.get());
}

TEST_CASE("a provider that is not to create still lists and destroys") {
  Scene scene;
  const std::string id = scene.made("a");
  runpod::ProviderOptions options = quick_options(scene.server);
  options.creates = false;
  options.image.clear();
  options.preferences = {};
  runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
  CHECK_FALSE(is<Refused>(provider.create(row("b"), k_never)).account);
  CHECK(scene.server.count("create") == 1);
  CHECK(provider.creatable({}) == 0);
  CHECK(provider.list(k_never).instances.size() == 1);
  is<Done>(provider.destroy(row("a", id), k_never));
  CHECK(scene.server.live_pods().empty());
}

TEST_CASE("a provider without image, GPU types, clouds or a pattern with the pod is refused") {
  const RunpodServer server;
  const auto refused = [&](const char* key, auto&& spoil) {
    runpod::ProviderOptions options = quick_options(server);
    spoil(options);
    test::expect_error(Code::invalid, {key},
                       [&] { runpod::RunpodProvider(options, runpod::ApiKey("k")); });
  };
  refused("runpod.image", [](auto& options) { options.image.clear(); });
  refused("runpod.gpu_types", [](auto& options) { options.preferences.gpu_types.clear(); });
  refused("runpod.clouds", [](auto& options) { options.preferences.clouds.clear(); });
  refused("runpod.proxy_url", [](auto& options) { options.proxy_url = "http://x"; });
  refused("variables", [](auto& options) {
    for (int i = 0; i < 41; ++i) options.env["V" + std::to_string(i)] = "";
  });
  refused("URL", [](auto& options) { options.api.url = "x"; });
}

TEST_CASE("a worker in a pod deletes the pod, or stops it where it may not") {
  RunpodServer server;
  const std::string id = server.add_pod("pod");
  ::setenv("RUNPOD_POD_ID", id.c_str(), 1);
  ::setenv("RUNPOD_API_KEY", "not-a-key", 1);
  ::setenv("POD_DEAD_MAN_API_URL", server.api_url().c_str(), 1);
  ::setenv("POD_DEAD_MAN_S", "600", 1);
  const auto pod = runpod::own_pod();
  REQUIRE(pod);
  CHECK(runpod::idle_shutdown_after() == 600s);
  server.fault("delete", "forbidden");
  CHECK(runpod::remove_own_pod(*pod));
  CHECK(server.pods().at(0).stopped);
  CHECK(runpod::remove_own_pod(*pod));
  CHECK(server.live_pods().empty());
  CHECK(runpod::remove_own_pod(*pod));  // it is gone already

  for (const char* bad : {"", "0", "-1", "ten", "10s"}) {
    ::setenv("POD_DEAD_MAN_S", bad, 1);
    CHECK_FALSE(runpod::idle_shutdown_after());
  }
  for (const char* name :
       {"RUNPOD_POD_ID", "RUNPOD_API_KEY", "POD_DEAD_MAN_API_URL", "POD_DEAD_MAN_S"}) {
    ::unsetenv(name);
  }
  CHECK_FALSE(runpod::own_pod());
}
