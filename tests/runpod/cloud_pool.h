// Executor, reconciler and a store on disk against the fake Runpod, as the pool uses them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "core/process/identity.h"
#include "scheduler/provision/executor/executor.h"
#include "scheduler/provision/reconciler/reconciler.h"
#include "scheduler/provision/supply.h"
#include "tests/runpod/scene.h"
#include "tests/temporary_directory.h"

namespace navtalk::tests {

struct CloudPool {
  TemporaryDirectory folder{};
  RunpodServer server{};
  std::unique_ptr<PoolStore> store = PoolStore::open("sqlite:" + (folder / "pool.db").native());
  PoolIdentity identity = pool_identity(*store, "navtalk", "test");
  runpod::RunpodProvider provider{options(), runpod::ApiKey("not-a-key")};
  Executor executor{*store, {&provider}, {.owner = this_process()}, {}};
  Reconciler reconciler{*store,
                        provider,
                        {.identity = identity,
                         .who = "test",
                         .orphan_grace = Duration(0),
                         .consistency_window = std::chrono::milliseconds(200)}};
  Supply supply{*store, {.identity = identity, .who = "test", .cloud = CloudSwitch::on}};

  runpod::ProviderOptions options() { return quick_options(server); }

  GpuId ask_for_one() {
    const Provisioning brought = supply.create(store->view(), Source::cloud, "test");
    REQUIRE(brought.operation == Operation::create);
    return brought.gpu;
  }
  void ask_to_destroy(const GpuId& id) {
    const Gpu gpu = store->find(id).value();
    const Intent intent{.operation = Operation::destroy, .number = gpu.intent.number + 1};
    REQUIRE(
        store->change({.id = id, .version = gpu.version, .event = Event::destroy, .intent = intent},
                      {"test", "destroy"}));
  }
  void work() {
    executor.step();
    executor.wait_idle(std::chrono::seconds(30), {});
    reconciler.pass({});
  }
  // Works until it is so, for at most a minute.
  bool comes(const std::function<bool()>& so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      work();
    }
    return true;
  }
  std::set<std::string> recorded() {
    std::set<std::string> ids;
    for (const Gpu& gpu : store->view().gpus) {
      if (!gpu.provider_id.empty()) ids.insert(gpu.provider_id);
    }
    return ids;
  }
  std::set<std::string> paid() {
    std::set<std::string> ids;
    for (const FakePod& pod : server.live_pods()) ids.insert(pod.id);
    return ids;
  }
};

}  // namespace navtalk::tests
