// The cap on spending with the fake's prices: supply, executor and provider as `serve` puts them
// together. The fake's catalog says 0.44 USD for an RTX 4090, its answers say what the test sets.
#include "scheduler/provision/spending.h"

#include <catch2/catch.hpp>

#include "core/process/identity.h"
#include "scheduler/provision/executor/executor.h"
#include "scheduler/provision/reconciler/reconciler.h"
#include "scheduler/provision/supply.h"
#include "tests/runpod/scene.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::RunpodServer;

namespace {

using tests::k_never;

struct Pool {
  explicit Pool(double usd, double most, std::vector<std::string> types = {"RTX 4090"})
      : server({.usd_per_hour = usd}), cap(most), gpu_types(std::move(types)) {
    provider.learn_prices(k_never);
  }

  RunpodServer server;
  double cap;
  std::vector<std::string> gpu_types;
  tests::TemporaryDirectory folder{};
  std::unique_ptr<PoolStore> store = PoolStore::open("sqlite:" + (folder / "pool.db").native());
  PoolIdentity identity = pool_identity(*store, "navtalk", "test");
  runpod::RunpodProvider provider{options(), runpod::ApiKey("not-a-key")};
  Executor executor{*store, {&provider}, {.owner = this_process(), .max_usd_per_hour = cap}, {}};
  Reconciler reconciler{
      *store, provider, {.identity = identity, .who = "test", .max_usd_per_hour = cap}};
  Supply supply{*store,
                {.identity = identity,
                 .who = "test",
                 .cloud = CloudSwitch::on,
                 .cloud_usd_per_hour = [this] { return provider.expected_usd_per_hour(); },
                 .max_usd_per_hour = cap}};

  runpod::ProviderOptions options() {
    runpod::ProviderOptions result = tests::quick_options(server);
    result.preferences.gpu_types = gpu_types;
    result.cap = runpod::SpendingCap{
        .reserve = [this](const Gpu& gpu,
                          double usd) { return reserve_price(*store, gpu, usd, cap); },
        .seen = [this](const std::string& type) { return remembered_price(*store, type); }};
    return result;
  }
  // As many as the cap allows are asked for, and everything is carried out.
  int ask_for(int gpus) {
    int asked = 0;
    while (asked < gpus &&
           supply.create(store->view(), Source::cloud, "test").operation != Operation::none) {
      ++asked;
    }
    work();
    return asked;
  }
  void work() {
    while (executor.step()) executor.wait_idle(std::chrono::seconds(30), k_never);
  }
  double paid() const {
    double usd = 0;
    for (const tests::FakePod& pod : server.live_pods()) usd += pod.usd_per_hour;
    return usd;
  }
};

// A cap on spending that leaves so much for each pod.
runpod::SpendingCap cap_of(const double& budget) {
  return {.reserve = [&budget](const Gpu&, double usd) { return usd <= budget; },
          .seen = [](const std::string&) { return 0.0; }};
}

}  // namespace

TEST_CASE("a pod that costs more than the catalog said is deleted when it breaks the cap, once") {
  Pool pool(3, 2);
  CHECK(pool.ask_for(1) == 1);
  CHECK(pool.server.count("create") == 1);
  CHECK(pool.server.count("delete") == 1);
  CHECK(pool.paid() == 0);
  const auto ledger = pool.store->ledger({});
  REQUIRE(ledger.size() == 1);
  CHECK(ledger[0].usd_per_hour == 3);
  // Now it is known what the type costs.
  CHECK(pool.ask_for(1) == 0);
  CHECK(pool.server.count("create") == 1);
}

TEST_CASE("the answers' prices together stay within the cap, however many are created at once") {
  Pool pool(0.7, 2);
  CHECK(pool.ask_for(10) == 4);  // at 0.44
  CHECK(pool.paid() <= 2);
  // Answers that come together may each see the others' pods, and all end. By now the price is known.
  pool.ask_for(10);
  CHECK(pool.server.live_pods().size() == 2);
  for (const Gpu& gpu : pool.store->view().gpus) {
    if (gpu.state == State::starting) CHECK(gpu.usd_per_hour == 0.7);
  }
}

TEST_CASE(
    "a price that the create's answer and the look-up lack is held to the cap when a list has it") {
  Pool pool(5, 2);
  pool.server.life({.unpriced = std::chrono::minutes(1)});
  CHECK(pool.ask_for(10) == 4);  // at 0.44
  CHECK(pool.server.count("get") == 4);
  CHECK(pool.server.live_pods().size() == 4);
  for (const Gpu& gpu : pool.store->view().gpus) CHECK(gpu.usd_per_hour == 0.44);
  pool.server.advance(std::chrono::minutes(2));
  REQUIRE(pool.reconciler.pass(k_never));
  pool.work();
  CHECK(pool.paid() == 0);
  for (const PaidSpan& span : pool.store->ledger({})) CHECK(span.to.has_value());
  // Now it is known what the type costs.
  CHECK(pool.ask_for(1) == 0);
  CHECK(pool.server.count("create") == 4);
}

TEST_CASE("creates that fall back to a dearer type do not spend the same money twice") {
  Pool pool(2.5, 3, {"RTX 4090", "H100"});
  pool.server.full({"RTX 4090|*|*"});
  CHECK(pool.ask_for(2) == 2);  // at 0.44
  CHECK(pool.server.live_pods().size() == 1);
}

TEST_CASE("a type without a price fails its row with the remedy, and makes no pod") {
  Pool pool(0.5, 2, {"RTX 9999"});
  CHECK(pool.ask_for(1) == 1);
  CHECK(pool.server.count("create") == 0);
  const auto gpus = pool.store->view().gpus;
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0].state == State::failed);
  CHECK(gpus[0].usd_per_hour == 0);
  CHECK_THAT(gpus[0].last_error, Catch::Contains("runpod.allow_unknown_price"));
}

TEST_CASE("under a cap on spending, a type without a known price is created only if it is named") {
  RunpodServer server;
  runpod::ProviderOptions options = tests::quick_options(server);
  options.preferences.gpu_types = {"RTX 9999"};
  const double budget = 2;
  SECTION("not named: refused, with the type and the remedy") {
    options.cap = cap_of(budget);
    runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
    const auto refused = tests::is<Refused>(provider.create(tests::row("a"), k_never));
    CHECK_FALSE(refused.account);
    CHECK_THAT(refused.message, Catch::Contains("no price for 'RTX 9999'") &&
                                    Catch::Contains("runpod.allow_unknown_price"));
    CHECK(server.count("create") == 0);
  }
  SECTION("named, it counts as the fallback") {
    options.cap = cap_of(budget);
    options.allow_unknown_price = {"RTX 9999"};
    options.fallback_usd_per_hour = 2.1;
    runpod::RunpodProvider dear(options, runpod::ApiKey("not-a-key"));
    CHECK_THAT(tests::is<NoCapacity>(dear.create(tests::row("a"), k_never)).message,
               Catch::Contains("cap on spending"));
    options.fallback_usd_per_hour = 1.9;
    runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
    CHECK(tests::is<Done>(provider.create(tests::row("a"), k_never)).instance->usd_per_hour == 0.5);
    CHECK(provider.expected_usd_per_hour() == 1.9);
  }
  SECTION("no cap") {
    runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
    tests::is<Done>(provider.create(tests::row("a"), k_never));
  }
  SECTION("beside others: they are created") {
    options.cap = cap_of(budget);
    options.preferences.gpu_types = {"RTX 9999", "RTX 4090"};
    runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
    tests::is<Done>(provider.create(tests::row("a"), k_never));
    CHECK(server.count("create") == 1);
    CHECK(server.pods().at(0).order["gpu"]["id"] == "RTX 4090");
  }
}

TEST_CASE("under a cap on spending, nothing is created before the catalog has come once") {
  RunpodServer server;
  const std::string fault =
      GENERATE("bad-key", "no-money", "forbidden", "server-error", "rate-limited");
  server.fault("catalog", fault, 1);
  runpod::ProviderOptions options = tests::quick_options(server);
  const double budget = 2;
  options.cap = cap_of(budget);
  runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
  const Outcome outcome = provider.create(tests::row("a"), k_never);
  CHECK(server.count("create") == 0);
  CHECK(server.count("catalog") == 1);
  INFO(fault);
  // The reason is that of the catalog, as a create would have told it.
  if (fault == "server-error") {
    const auto failure = tests::is<Failure>(outcome);
    CHECK(failure.nothing_made);
    CHECK_THAT(failure.message, Catch::Contains("reading the prices") && Catch::Contains("500"));
  } else if (fault == "rate-limited") {
    CHECK(tests::is<NoCapacity>(outcome).retry_after > Duration{});
  } else {
    const auto refused = tests::is<Refused>(outcome);
    CHECK(refused.account);
    const std::string status = fault == "bad-key" ? "401" : fault == "no-money" ? "402" : "403";
    CHECK_THAT(refused.message, Catch::Contains(status));
    CHECK(provider.creatable({}) == 0);
    tests::is<NoCapacity>(provider.create(tests::row("a"), k_never));  // paused
  }
}

TEST_CASE("a cloud whose catalog did not come does not blame the type") {
  RunpodServer server;
  server.fault({.call = "catalog", .skip = 1, .times = -1, .status = 401});
  runpod::ProviderOptions options = tests::quick_options(server);
  options.preferences.clouds = {"SECURE", "COMMUNITY"};
  options.preferences.gpu_types = {"RTX 9999"};
  const double budget = 2;
  options.cap = cap_of(budget);
  runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
  // SECURE has no such type; COMMUNITY may have it, but refuses the account.
  CHECK(tests::is<Refused>(provider.create(tests::row("a"), k_never)).account);
}

TEST_CASE("what a type was seen to cost is expected of its next pod") {
  RunpodServer server;
  runpod::ProviderOptions options = tests::quick_options(server);
  const double budget = 2;
  options.cap = cap_of(budget);
  options.cap->seen = [](const std::string& type) { return type == "RTX 4090" ? 2.1 : 0.1; };
  runpod::RunpodProvider provider(options, runpod::ApiKey("not-a-key"));
  provider.learn_prices(k_never);
  CHECK(provider.expected_usd_per_hour() == 2.1);
  CHECK_THAT(tests::is<NoCapacity>(provider.create(tests::row("a"), k_never)).message,
             Catch::Contains("cap on spending"));  // the other costs 2.5
  CHECK(server.count("create") == 0);
}
