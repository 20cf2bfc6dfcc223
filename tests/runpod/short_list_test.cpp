// Successful lists that lack pods. Only the API's answer about a pod's id ends its row and its span in
// the ledger.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "tests/runpod/cloud_pool.h"

using namespace navtalk;
using namespace std::chrono_literals;
using tests::RunpodFault;

namespace {

using tests::k_never;

// Three pods that are older than the consistency window.
struct World : tests::CloudPool {
  World() : World(tests::PodLife{}) {}
  explicit World(const tests::PodLife& life) {
    server.life(life);
    for (int i = 0; i < 3; ++i) ask_for_one();
    REQUIRE(comes([this] { return recorded().size() == 3; }));
    settled();
    before = rows();
  }

  // Waits until no row counts as young any more.
  void settled() {
    const TimePoint until = store->now() + 200ms;
    while (store->now() < until) reconciler.pass(k_never);
  }
  std::map<GpuId, Gpu> rows() {
    std::map<GpuId, Gpu> all;
    for (const Gpu& gpu : store->view().gpus) all[gpu.id] = gpu;
    return all;
  }
  std::string pod(int number) const {
    return server.pods().at(static_cast<std::size_t>(number)).id;
  }
  void change(int number, const tests::PodLife& life) { server.change(pod(number), life); }
  // Somebody else deletes it.
  void remove(int number) {
    runpod::Api(tests::quick_api(server), runpod::ApiKey("not-a-key")).remove(pod(number), k_never);
  }
  std::optional<Gpu> row_of(int number) {
    for (const auto& [id, gpu] : rows()) {
      if (gpu.provider_id == pod(number)) return gpu;
    }
    return std::nullopt;
  }
  bool unchanged(int number) {
    const std::optional<Gpu> row = row_of(number);
    return row && row->version == before.at(row->id).version;
  }
  // Pods whose span in the ledger is open.
  std::set<std::string> spans() {
    std::set<std::string> open;
    for (const PaidSpan& span : store->ledger({})) {
      if (!span.to && span.usd_per_hour > 0) open.insert(span.provider_id);
    }
    return open;
  }

  std::map<GpuId, Gpu> before{};
};

}  // namespace

TEST_CASE("successful lists without any pod fail none, end no span and create nothing") {
  World world;
  world.server.fault("list", "short-list", -1);
  for (int i = 0; i < 4; ++i) CHECK_FALSE(world.reconciler.pass(k_never));
  CHECK(world.rows() == world.before);
  CHECK(world.spans() == world.paid());
  CHECK(world.store->ledger({}).size() == 3);
  world.work();
  CHECK(world.server.count("create") == 3);
  CHECK(world.server.count("delete") == 0);
}

TEST_CASE("lists without the pods change nothing while the API cannot say whether they exist") {
  World world;
  world.server.fault("list", "short-list", -1);
  world.server.fault("get", GENERATE("server-error", "bad-key", "edge-html"), -1);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(world.reconciler.pass(k_never));
  CHECK(world.rows() == world.before);
  CHECK(world.spans() == world.paid());
}

TEST_CASE("a pod that others deleted ends its row and its span, beside those that a list lacks") {
  World world;
  world.change(0, {.unlisted = true});
  world.remove(1);
  REQUIRE(world.comes([&] { return world.row_of(1)->state == State::failed; }));
  CHECK(world.unchanged(0));
  CHECK(world.unchanged(2));
  CHECK(world.row_of(1)->usd_per_hour == 0);
  CHECK(world.spans() == world.paid());
}

TEST_CASE("a listed pod that its id does not find is left alone") {
  World world(tests::PodLife{.unknown_id = 3600s});
  for (int i = 0; i < 3; ++i) CHECK(world.reconciler.pass(k_never));
  CHECK(world.rows() == world.before);
  CHECK(world.server.count("get") == 0);
}

TEST_CASE("a destroyed pod keeps its row until its id is not known, whatever lists say") {
  World world;
  const GpuId id = world.row_of(0)->id;
  world.ask_to_destroy(id);
  // It is said to be done, and is not.
  world.server.fault({.call = "delete", .status = 204});
  world.server.fault("list", "short-list", -1);
  world.executor.step();
  REQUIRE(world.executor.wait_idle(30s, k_never));
  REQUIRE(world.store->find(id));
  CHECK_THAT(world.store->find(id)->last_error, Catch::StartsWith("still there"));
  CHECK(world.spans() == world.paid());
  REQUIRE(world.comes([&] { return !world.store->find(id); }));
  CHECK(world.server.live_pods().size() == 2);
  CHECK(world.spans() == world.paid());
}
