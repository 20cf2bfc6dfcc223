#include "scheduler/health/prober.h"

#include <atomic>
#include <catch2/catch.hpp>

#include "tests/scheduler/health/probed_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr std::chrono::milliseconds k_very_long = std::chrono::minutes(10);
}  // namespace

TEST_CASE("a starting GPU is ready after two answers, and its lead time is learned") {
  ProbedPool world;
  world.worker.set({.slots = 2});
  const Gpu gpu = world.put(Source::local, State::starting);
  world.look();
  CHECK(world.pool.row(gpu).state == State::starting);
  world.look();
  CHECK(world.pool.row(gpu).state == State::idle);
  CHECK(world.pool.row(gpu).slots == 2);
  const auto attempts = world.pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].operation == Operation::create);
  CHECK(attempts[0].result == Attempt::Result::ok);
}

TEST_CASE("a worker that is not healthy, or that no WebSocket reaches, proves nothing") {
  ProbedPool world;
  const Gpu gpu = world.put(Source::local, State::starting);
  SECTION("503") { world.worker.set({.stuck = true}); }
  SECTION("a proxy's 502") { world.worker.set({.alive = false}); }
  SECTION("still loading") { world.worker.set({.state = "starting"}); }
  SECTION("no WebSocket") { world.worker.set({.broken_upgrade = true}); }
  world.look(4);
  CHECK(world.pool.row(gpu).state == State::starting);
}

TEST_CASE("a pod without a GPU is not ready") {
  ProbedPool world;
  world.worker.set({.gpu = false});
  const Gpu pod = world.put(Source::cloud, State::starting);
  world.look(3);
  CHECK(world.pool.row(pod).state == State::starting);
}

TEST_CASE("a GPU that stops answering fails after three misses, not after one") {
  ProbedPool world;
  const Gpu gpu = world.put(Source::local, State::idle);
  world.look();
  CHECK(world.pool.row(gpu).seen_at > TimePoint{});
  world.worker.set({.alive = false});
  world.look(2);
  CHECK(world.pool.row(gpu).state == State::idle);
  world.worker.set({});
  world.look();
  world.worker.set({.alive = false});
  world.look(2);
  CHECK(world.pool.row(gpu).state == State::idle);
  world.look();
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK(!world.pool.row(gpu).last_error.empty());
}

TEST_CASE("a probe keeps what the worker says of its GPU, and nothing of a CPU") {
  ProbedPool world;
  world.worker.set({.vram_used = 3 << 20, .temperature_c = 64});
  const Gpu gpu = world.put(Source::external, State::starting);
  world.look();  // one that is starting is read too
  GpuReading reading = world.pool.row(gpu).reading;
  CHECK(reading.at > TimePoint{});
  CHECK(reading == GpuReading{.memory_used = 3 << 20,
                              .memory_total = 1 << 30,
                              .load_percent = 50,
                              .temperature_c = 64,
                              .at = reading.at});
  world.look();
  REQUIRE(world.pool.row(gpu).state == State::idle);
  const std::uint64_t version = world.pool.row(gpu).version;
  const std::size_t events = world.pool.store->events({}).size();
  world.worker.set({.vram_used = 5 << 20});
  world.look();
  CHECK(world.pool.row(gpu).reading.at > reading.at);
  reading = world.pool.row(gpu).reading;
  CHECK(reading.memory_used == 5 << 20);
  CHECK_FALSE(reading.temperature_c);
  CHECK(world.pool.row(gpu).version == version);
  CHECK(world.pool.store->events({}).size() == events);
  world.worker.set({.gpu = false});
  world.look();
  CHECK(world.pool.row(gpu).reading == reading);
  CHECK(world.pool.row(gpu).seen_at > reading.at);
}

TEST_CASE(
    "a registered GPU that failed comes back when it answers; a pod that never served does not") {
  ProbedPool world;
  const Gpu external = world.put(Source::external, State::failed);
  const Gpu pod = world.put(Source::cloud, State::failed, world.alias());
  world.look(3);
  CHECK(world.pool.row(external).state == State::idle);
  CHECK(world.pool.row(pod).state == State::failed);
}

TEST_CASE("paused local workers of this host are spoken to, and their answers prove nothing") {
  ProbedPool world;
  std::atomic<int> asked = 0;
  const LoopbackServer asleep([&](Connection& client, const ReceivedRequest&) {
    ++asked;
    client.answer(503);
  });
  const Gpu gpu = world.put(Source::local, State::paused, asleep.url());
  world.put(Source::external, State::paused, asleep.url("/a"));
  Gpu elsewhere = new_gpu(world.pool.identity, Source::local);
  elsewhere.state = State::paused;
  elsewhere.host = "elsewhere";
  elsewhere.url = asleep.url("/b");
  world.pool.add(elsewhere);
  world.look(4);
  CHECK(asked == 4);
  CHECK(world.pool.row(gpu).state == State::paused);
  CHECK(world.pool.row(gpu).version == gpu.version);
}

TEST_CASE("a woken GPU that is ready is learned as a wake") {
  ProbedPool world;
  const Gpu gpu = world.put(Source::local, State::idle);
  world.look();
  const auto change = [&](Event event) {
    const Gpu row = world.pool.row(gpu);
    REQUIRE(world.pool.store->change({.id = row.id, .version = row.version, .event = event},
                                     {"test", "by hand"}));
  };
  change(Event::pause);
  change(Event::paused);
  change(Event::wake);
  world.look(2);
  REQUIRE(world.pool.row(gpu).state == State::idle);
  const auto attempts = world.pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].operation == Operation::wake);
}

TEST_CASE("beside more hanging workers than are probed at once, a dead one fails, and they do") {
  ProbedPool world({.timeout = std::chrono::milliseconds(500), .at_once = 3});
  const LoopbackServer silent([](Connection& client, const ReceivedRequest&) { client.hold(); });
  std::vector<Gpu> hanging, well;
  for (int i = 0; i < 7; ++i)
    hanging.push_back(world.put(Source::cloud, State::idle, silent.url()));
  for (int i = 0; i < 9; ++i) well.push_back(world.put(Source::cloud, State::idle));
  const LoopbackServer closed([](Connection& client, const ReceivedRequest&) { client.close(); });
  const Gpu dead = world.put(Source::cloud, State::idle, closed.url());
  world.look(3);
  CHECK(world.pool.row(dead).state == State::failed);
  for (const Gpu& gpu : hanging) {
    CHECK(world.pool.row(gpu).state == State::failed);
    CHECK_THAT(world.pool.row(gpu).last_error, Catch::Contains("imeout"));
  }
  for (const Gpu& gpu : well) CHECK(world.pool.row(gpu).state == State::idle);
}

TEST_CASE("local workers are asked by their own host, all others by the scaler's holder") {
  ProbedPool world;
  Gpu theirs = new_gpu(world.pool.identity, Source::local);
  theirs.state = State::starting;
  theirs.host = "there";
  theirs.url = world.server.url();
  theirs = world.pool.add(theirs);
  const Gpu mine = world.put(Source::local, State::starting);
  const Gpu pod = world.put(Source::cloud, State::starting);
  world.look(3, false);
  CHECK(world.pool.row(theirs).state == State::starting);
  CHECK(world.pool.row(mine).state == State::idle);
  CHECK(world.pool.row(pod).state == State::starting);
}

TEST_CASE("a dedicated GPU is asked like any other") {
  ProbedPool world;
  Gpu gpu = new_gpu(world.pool.identity, Source::external);
  gpu.dedicated_to = {"acme"};
  gpu.url = world.server.url();
  gpu = world.pool.add(gpu);
  world.look(2);
  CHECK(world.pool.row(gpu).state == State::idle);
}

TEST_CASE("a starting GPU says what its worker answered last") {
  ProbedPool world;
  const Gpu pod = world.put(Source::cloud, State::starting);
  world.worker.set({.alive = false});
  world.look();
  CHECK_THAT(world.pool.row(pod).last_error, Catch::Contains("502"));
  world.worker.set({.state = "starting"});
  world.look();
  CHECK_THAT(world.pool.row(pod).last_error, Catch::Contains("the worker is starting"));
  CHECK(world.pool.row(pod).state == State::starting);
  world.worker.set({});
  world.look(2);
  CHECK(world.pool.row(pod).last_error.empty());
}

TEST_CASE(
    "a worker that requires another token fails its GPU at once, and is recorded as an attempt") {
  ProbedPool world;
  world.worker.set({.token = "another"});
  const Gpu pod = world.put(Source::cloud, State::starting);
  const Gpu external = world.put(Source::external, State::starting, world.alias());
  world.look(2);
  for (const Gpu& gpu : {pod, external}) {
    CHECK(world.pool.row(gpu).state == State::failed);
    CHECK_THAT(world.pool.row(gpu).last_error, Catch::Contains("401"));
  }
  const auto attempts = world.pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].gpu == pod.id);
  CHECK(attempts[0].result == Attempt::Result::failed);
}

TEST_CASE(
    "a registered GPU that does not answer fails soon, so that it does not count as coming "
    "supply") {
  ProbedPool world;
  world.worker.set({.alive = false});
  const Gpu external = world.put(Source::external, State::starting);
  world.look(3);
  CHECK(world.pool.row(external).state == State::failed);

  world.worker.set({.state = "starting"});
  const Gpu loading = world.put(Source::external, State::starting, world.alias());
  world.look(4);
  CHECK(world.pool.row(loading).state == State::starting);
}

TEST_CASE("an invalid URL is the row's error") {
  ProbedPool world;
  Gpu gpu = new_gpu(world.pool.identity, Source::external);
  gpu.url = "nonsense";
  gpu = world.pool.add(gpu);
  world.look();
  CHECK_THAT(world.pool.row(gpu).last_error, Catch::Contains("URL"));
}

TEST_CASE("misses count on in the next process") {
  ProbedPool world;
  const AnsweringPod other(world);
  const Gpu gpu = world.put(Source::cloud, State::idle);
  world.worker.set({.alive = false});
  for (int i = 0; i < 3; ++i) {
    CHECK(world.pool.row(gpu).state == State::idle);
    Prober fresh(*world.pool.store, {.who = "test", .record_every = {}, .grace = {}});
    fresh.step(true);
    REQUIRE(fresh.wait_idle(k_long, {}));
  }
  CHECK(world.pool.row(gpu).state == State::failed);
}

TEST_CASE("the fourth miss in a row fails a GPU, also when it is recorded a little early") {
  ProbedPool world;
  const AnsweringPod other(world);
  const Gpu gpu = world.put(Source::cloud, State::idle);
  world.worker.set({.alive = false});
  const int misses = GENERATE(2, 3);
  // A little more than half a period before the grace time is over.
  const TimePoint first = world.pool.store->now() - std::chrono::milliseconds(12'600);
  for (int i = 0; i < misses; ++i) world.pool.store->missed({{gpu.id, "silent"}}, first);
  Prober prober(*world.pool.store, {.who = "test", .record_every = {}});
  prober.step(true);
  REQUIRE(prober.wait_idle(k_long, {}));
  CHECK(world.pool.row(gpu).misses == misses + 1);
  CHECK(world.pool.row(gpu).state == (misses == 3 ? State::failed : State::idle));
}

TEST_CASE("starting workers that do not answer delay no probe of a serving one") {
  ProbedPool world({.timeout = k_very_long});
  const LoopbackServer silent([](Connection& client, const ReceivedRequest&) { client.hold(); });
  for (int i = 0; i < 6; ++i) {
    Gpu dead = new_gpu(world.pool.identity, Source::cloud);
    dead.url = silent.url();
    world.pool.add(dead);
  }
  const Gpu serving = world.put(Source::cloud, State::idle);
  const auto is_seen = [&] { return world.pool.row(serving).seen_at > TimePoint{}; };
  for (const auto until = std::chrono::steady_clock::now() + k_long;
       !is_seen() && std::chrono::steady_clock::now() < until;) {
    world.prober.step(true);
    world.prober.wait_idle(std::chrono::milliseconds(10), {});
  }
  CHECK(is_seen());
  CHECK_FALSE(world.prober.wait_idle(std::chrono::milliseconds(10), {}));
}

TEST_CASE("upgrades to WebSockets that hang delay no other worker's readiness") {
  ProbedPool world({.timeout = k_very_long});
  std::atomic<int> hanging = 0;
  const LoopbackServer stuck([&](Connection& client, const ReceivedRequest& request) {
    if (request.path == "/healthz") return world.worker.handle(client, request);
    ++hanging;
    client.hold();
  });
  const auto comes = [&](const auto& so) {
    const auto until = std::chrono::steady_clock::now() + k_long;
    while (!so() && std::chrono::steady_clock::now() < until) {
      world.prober.step(true);
      world.prober.wait_idle(std::chrono::milliseconds(10), {});
    }
    return so();
  };
  std::vector<Gpu> stuck_gpus;
  for (int i = 0; i < 24; ++i) {
    stuck_gpus.push_back(world.put(Source::cloud, State::starting, stuck.url()));
  }
  CHECK(comes([&] { return hanging == 24; }));
  const Gpu good = world.put(Source::cloud, State::starting);
  CHECK(comes([&] { return world.pool.row(good).state == State::idle; }));
  for (const Gpu& gpu : stuck_gpus) CHECK(world.pool.row(gpu).state == State::starting);
}

TEST_CASE("an upgrade to a WebSocket that hangs ends as a probe does, and is the row's error") {
  ProbedPool world({.timeout = std::chrono::milliseconds(100)});
  const LoopbackServer stuck([&](Connection& client, const ReceivedRequest& request) {
    if (request.path == "/healthz") return world.worker.handle(client, request);
    client.hold();
  });
  const Gpu gpu = world.put(Source::cloud, State::starting, stuck.url());
  world.look(2);
  CHECK(world.pool.row(gpu).state == State::starting);
  CHECK_THAT(world.pool.row(gpu).last_error, Catch::StartsWith("no WebSocket reaches it: "));
  CHECK_THAT(world.pool.row(gpu).last_error, Catch::Contains("imeout"));
}

TEST_CASE("each worker is shown the token of its own row, and none the pool's secret") {
  const WorkerTokens tokens("secret");
  ProbedPool world({.tokens = tokens});
  const Source source = GENERATE(Source::local, Source::external, Source::cloud);
  const Gpu gpu = world.put(source, State::starting);
  world.worker.set({.token = tokens.of(gpu)});
  world.look(2);
  CHECK(world.pool.row(gpu).state == State::idle);
  const auto requests = world.worker.requests();
  REQUIRE(requests.size() == 3);  // two of its health, one WebSocket
  for (const ReceivedRequest& request : requests) {
    CHECK(request.header("authorization") == "Bearer " + tokens.of(gpu));
    CHECK(request.header("authorization") != "Bearer secret");
  }
}

TEST_CASE(
    "a worker that would be asked over http beyond loopback is not asked, and its row fails") {
  ProbedPool world({.tokens = WorkerTokens("secret")});
  const State state = GENERATE(State::starting, State::idle, State::failed);
  // Nobody is there: its name is not even looked up.
  const Gpu gpu = world.put(Source::external, state, "http://gpu.invalid:2160");
  world.look();
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK_THAT(world.pool.row(gpu).last_error, Catch::Contains("pool.allow_http_workers"));
}

TEST_CASE("a registered worker that refuses its token fails with the command that prints it") {
  ProbedPool world({.tokens = WorkerTokens("secret")});
  world.worker.set({.token = "another"});
  const Gpu gpu = world.put(Source::external, State::starting);
  world.look(2);
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK_THAT(world.pool.row(gpu).last_error, Catch::Contains("navtalk pool token " + gpu.url));
}
