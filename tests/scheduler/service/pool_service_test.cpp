#include "scheduler/service/pool_service.h"

#include <catch2/catch.hpp>
#include <condition_variable>

#include "tests/core/expect_error.h"
#include "tests/scheduler/health/probed_pool.h"
#include "tests/scheduler/provision/scripted_provider.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

// Its list may hang until it is asked to stop; the test sees when it is asked for.
class ListedProvider : public ScriptedProvider {
 public:
  ListedProvider(Source source, bool hangs) : ScriptedProvider(source), hangs_(hangs) {}

  bool wait_until_listed() {
    std::unique_lock lock(mutex_);
    return listed_.wait_for(lock, k_long, [&] { return lists_ > 0; });
  }
  Listing list(const std::stop_token& stop) override {
    std::unique_lock lock(mutex_);
    ++lists_;
    listed_.notify_all();
    if (hangs_) listed_.wait(lock, stop, [] { return false; });
    return {.complete = !hangs_, .message = "it hangs"};
  }

 private:
  const bool hangs_;
  std::mutex mutex_;
  std::condition_variable_any listed_;
  int lists_ = 0;
};

}  // namespace

TEST_CASE("a provider whose list hangs delays no other provider's") {
  SmallPool pool;
  ListedProvider local(Source::local, true), cloud(Source::cloud, false);
  Supply supply(*pool.store, {.identity = pool.identity, .who = "test"});
  DemandTracker demand_tracker(*pool.store);
  PoolOptions options{.owner = this_process(), .identity = pool.identity};
  options.limits.tick = std::chrono::milliseconds(10);
  const PoolService service({*pool.store, supply, demand_tracker, {&local, &cloud}}, options);
  CHECK(local.wait_until_listed());
  CHECK(cloud.wait_until_listed());
}

TEST_CASE("no pool starts under the host name of another machine, and each row stays as it is") {
  SmallPool pool;
  REQUIRE(!register_host(*pool.store, {.name = "here", .devices = {"cpu"}, .owner = elsewhere()}));
  ScriptedProvider local(Source::local);
  Gpu row = new_gpu(pool.identity, Source::local);
  row.host = "here";
  row.state = State::idle;
  row.provider_id = "1:1";
  const Gpu before = pool.add(row);
  Supply supply(*pool.store, {.identity = pool.identity, .who = "test"});
  DemandTracker demand_tracker(*pool.store);
  PoolOptions options{.owner = this_process(), .identity = pool.identity};
  options.host = Host{.name = "here", .owner = this_process()};
  test::expect_error(Code::invalid, {"host name 'here'", elsewhere()}, [&] {
    const PoolService service({*pool.store, supply, demand_tracker, {&local}}, options);
  });
  CHECK(pool.store->find(before.id) == before);
}

TEST_CASE("pods that failed before a gateway started return, whatever their hold was") {
  ProbedPool probed;  // its worker; the service has a prober of its own
  PoolStore& store = *probed.pool.store;
  ListedProvider cloud(Source::cloud, true);
  const Gpu pod = probed.put(Source::cloud, State::idle);
  store.seen({{pod.id}}, store.now());
  for (int i = 0; i < 3; ++i) store.missed({{pod.id, "silent"}}, store.now());
  const Gpu row = probed.pool.row(pod);
  REQUIRE(store.change({.id = row.id, .version = row.version, .event = Event::fail},
                       {"test", "silent"}));
  Supply supply(store, {.identity = probed.pool.identity, .who = "test"});
  DemandTracker demand_tracker(store);
  PoolOptions options{.owner = this_process(), .identity = probed.pool.identity};
  options.limits.tick = std::chrono::milliseconds(10);
  options.limits.failed_hold = {};
  options.limits.max_free = std::nullopt;
  const PoolService service({store, supply, demand_tracker, {&cloud}}, options);
  const auto changed = [&] { return store.find(pod.id)->state != State::failed; };
  std::uint64_t seen = 0;
  for (const auto end = store.now() + k_long; !changed() && store.now() < end;) {
    seen = store.wait_for_change(seen, std::chrono::milliseconds(100), {});
  }
  CHECK(store.find(pod.id)->state == State::idle);
}
