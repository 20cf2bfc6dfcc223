#include "scheduler/service/pool_service.h"

#include <catch2/catch.hpp>
#include <condition_variable>

#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr std::chrono::seconds k_long{20};

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
