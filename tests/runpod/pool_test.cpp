// The cloud as the pool uses it: executor, reconciler and a store on disk against the fake.
// Whatever the API answers, in the end every pod of ours has its row, and every row its pod.
#include <catch2/catch.hpp>
#include <set>

#include "tests/runpod/cloud_pool.h"

using namespace navtalk;
using namespace std::chrono_literals;
using Pool = tests::CloudPool;

namespace {

using tests::k_never;

}  // namespace

TEST_CASE("a pod that was created is recorded with its id, its URL and its price") {
  Pool pool;
  const GpuId id = pool.ask_for_one();
  pool.work();
  const Gpu gpu = pool.store->find(id).value();
  CHECK(gpu.state == State::starting);
  CHECK(gpu.provider_id == pool.server.pods().at(0).id);
  CHECK(gpu.url == pool.provider.url(gpu.provider_id));
  CHECK(gpu.usd_per_hour == 0.5);
  CHECK(gpu.intent.operation == Operation::none);
}

TEST_CASE("a pod whose create was answered wrongly finds its row, and is created once") {
  const std::string name = GENERATE("done-but-500", "done-but-reset", "done-but-silent");
  CAPTURE(name);
  Pool pool;
  pool.server.fault("create", name, -1);
  const GpuId id = pool.ask_for_one();
  REQUIRE(pool.comes([&] { return !pool.store->find(id)->provider_id.empty(); }));
  CHECK(pool.server.count("create") == 1);
  CHECK(pool.recorded() == pool.paid());
  CHECK(pool.store->find(id)->state == State::starting);
}

TEST_CASE("a pod that the lists show only later finds its row all the same") {
  Pool pool;
  pool.server.life({.hidden = 10s});
  pool.server.fault("create", "done-but-500");
  const GpuId id = pool.ask_for_one();
  pool.work();
  CHECK(pool.store->find(id)->provider_id.empty());
  pool.server.advance(10s);
  // Whether its row still waited for it or had given up: it is paid for, and recorded.
  REQUIRE(pool.comes([&] { return !pool.paid().empty() && pool.recorded() == pool.paid(); }));
}

TEST_CASE("a create that had no effect fails its row, and leaves nothing behind") {
  Pool pool;
  pool.server.fault("create", "server-error", -1);
  const GpuId id = pool.ask_for_one();
  REQUIRE(pool.comes([&] { return pool.store->find(id)->state == State::failed; }));
  CHECK(pool.server.count("create") == 1);
  CHECK(pool.paid().empty());
}

TEST_CASE("a create that made two pods leaves none unrecorded") {
  Pool pool;
  pool.server.life({.twice = true});
  if (GENERATE(true, false)) pool.server.fault("create", "done-but-500");
  pool.ask_for_one();
  REQUIRE(pool.comes([&] { return pool.recorded().size() == 2; }));
  CHECK(pool.recorded() == pool.paid());
}

TEST_CASE("an orphan of this store is recorded, another store's is left alone") {
  Pool pool;
  const std::string orphan = pool.server.add_pod(pool.identity.own_prefix() + "lost");
  const std::string other = pool.server.add_pod("navtalk-test-ffffffff-other");
  const std::string stranger = pool.server.add_pod("somebody-elses");
  REQUIRE(pool.comes([&] { return !pool.recorded().empty(); }));
  CHECK(pool.recorded() == std::set{orphan});
  CHECK(pool.paid() == std::set{orphan, other, stranger});
}

TEST_CASE("a pool that is renamed keeps its pods, and finds what was created under the old name") {
  Pool pool;
  const GpuId id = pool.ask_for_one();
  pool.work();
  const std::string orphan = pool.server.add_pod(pool.identity.own_prefix() + "lost");
  const std::string other = pool.server.add_pod("navtalk-test-ffffffff-other");
  const std::set<std::string> ours = {pool.store->find(id)->provider_id, orphan};
  // As the next process does, that was started with another prefix and another pool.name.
  pool.identity = pool_identity(*pool.store, "talk", "stage");
  runpod::RunpodProvider provider(pool.options(), runpod::ApiKey("not-a-key"));
  Executor executor(*pool.store, {&provider}, {.owner = this_process()}, {});
  Reconciler reconciler(*pool.store, provider,
                        {.identity = pool.identity,
                         .who = "test",
                         .orphan_grace = Duration(0),
                         .consistency_window = {}});
  for (int i = 0; i < 4; ++i) CHECK(reconciler.pass(k_never));
  CHECK(pool.recorded() == ours);
  CHECK(pool.store->find(id)->state == State::starting);
  CHECK(pool.store->find(id)->usd_per_hour == 0.5);
  // Its end is waited for, too: gone is what a whole list lacks under any name.
  pool.ask_to_destroy(id);
  executor.step();
  executor.wait_idle(30s, k_never);
  CHECK_FALSE(pool.store->find(id));
  CHECK(pool.paid() == std::set{orphan, other});
}

TEST_CASE("a row goes only when its pod is gone") {
  Pool pool;
  const GpuId id = pool.ask_for_one();
  pool.work();
  pool.ask_to_destroy(id);
  pool.server.fault("delete", "server-error", 7);
  REQUIRE(pool.comes([&] { return !pool.store->find(id); }));
  CHECK(pool.paid().empty());
}

TEST_CASE("a young pod that 404s on delete is not forgotten") {
  Pool pool;
  pool.server.life({.hidden = 3600s});
  const GpuId id = pool.ask_for_one();
  pool.executor.step();
  pool.executor.wait_idle(30s, k_never);
  REQUIRE_FALSE(pool.store->find(id)->provider_id.empty());
  pool.ask_to_destroy(id);
  pool.executor.step();
  pool.executor.wait_idle(30s, k_never);
  CHECK(pool.store->find(id));
  pool.server.advance(3601s);
  REQUIRE(pool.comes([&] { return pool.paid().empty() && !pool.store->find(id); }));
}

TEST_CASE("a pod that others deleted fails its row, one that exited too") {
  Pool pool;
  if (GENERATE(true, false)) pool.server.life({.exits_after = 0s});
  const GpuId id = pool.ask_for_one();
  pool.work();
  if (pool.server.pods().at(0).status(pool.server.now()) == "RUNNING") {
    runpod::Api(tests::quick_api(pool.server), runpod::ApiKey("not-a-key"))
        .remove(pool.server.pods().at(0).id, k_never);
  }
  CHECK(pool.comes([&] { return pool.store->find(id)->state == State::failed; }));
}

TEST_CASE("a list that breaks off changes nothing") {
  Pool pool;
  const GpuId id = pool.ask_for_one();
  pool.work();
  pool.server.add_pod(pool.identity.own_prefix() + "lost");
  const std::string name = GENERATE("server-error", "bad-key", "edge-html", "garbage");
  pool.server.fault("list", name, -1);
  const std::uint64_t version = pool.store->find(id)->version;
  for (int i = 0; i < 4; ++i) CHECK_FALSE(pool.reconciler.pass(k_never));
  CHECK(pool.store->find(id)->version == version);
  CHECK(pool.store->view().gpus.size() == 1);
}

TEST_CASE("an account that is refused pauses creation for the whole pool") {
  Pool pool;
  pool.server.fault("create", GENERATE("no-money", "bad-key"), -1);
  const GpuId id = pool.ask_for_one();
  REQUIRE(pool.comes([&] { return pool.store->find(id)->state == State::failed; }));
  CHECK(creation_pause(*pool.store));
  CHECK(pool.supply.create(pool.store->view(), Source::cloud, "test").operation == Operation::none);
}
