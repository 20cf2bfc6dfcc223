// A store of its own for one test, and short ways to put rows into it.
#pragma once

#include <memory>
#include <string>

#include "core/process/identity.h"
#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/provision/hosts.h"
#include "tests/temporary_directory.h"

namespace navtalk::tests {

// One of this host that is gone: another had our process id before us.
inline std::string dead_process() {
  const std::string us = this_process();
  return us.substr(0, us.rfind('/')) + "/1";
}

// A process in another container of this machine.
inline std::string elsewhere() {
  const std::string us = this_process();
  const std::size_t pid = us.rfind('/', us.rfind('/') - 1);
  return us.substr(0, pid) + "0/1/1";
}

struct SmallPool {
  TemporaryDirectory folder;
  std::unique_ptr<PoolStore> store = PoolStore::open("sqlite:" + (folder / "pool.db").native());
  PoolIdentity identity = pool_identity(*store, "navtalk", "test");

  Gpu add(Gpu gpu) { return store->add({.gpu = std::move(gpu)}, {"test", "put"}).value(); }
  Gpu pod(State state, const std::string& provider_id, double usd = 0.5) {
    Gpu gpu = new_gpu(identity, Source::cloud);
    gpu.state = state;
    gpu.provider_id = provider_id;
    gpu.usd_per_hour = usd;
    gpu.url = "http://127.0.0.1:9/" + provider_id;
    return add(gpu);
  }
  // A row whose create, wake, ... is wanted.
  Gpu wanting(Source source, Operation operation, Gpu gpu = {}) {
    if (gpu.id.empty()) gpu = new_gpu(identity, source);
    gpu.intent = {.operation = operation, .number = 1, .since = store->now()};
    return add(gpu);
  }
  Gpu row(const Gpu& gpu) { return store->find(gpu.id).value(); }
  std::optional<Lease> claim(const std::string& who, const std::string& tenant = "") {
    return store->claim({.id = {who}, .tenant = {tenant}, .gateway = "gateway"},
                        std::chrono::seconds(30));
  }
  bool enqueue(const std::string& who) {
    return store->enqueue({.id = {who}, .gateway = "gateway"}, 100, std::chrono::seconds(30))
        .has_value();
  }
};

}  // namespace navtalk::tests
