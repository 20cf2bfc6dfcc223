// Several gateways see the same queue: together they bring what one would have brought.
#include "scheduler/provision/supply.h"

#include <latch>
#include <set>
#include <thread>

#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr int k_users = 12;

// The gateways' own connections to one store, each with a supply of its own.
struct Gateways {
  static constexpr int k_count = 4;

  template <class Place>
  explicit Gateways(const Place& place) {
    for (int i = 0; i < k_count; ++i) {
      stores.push_back(place.open());
      supplies.emplace_back(*stores.back(),
                            SupplyOptions{.identity = pool_identity(*stores.back(), "navtalk", "p"),
                                          .who = "gateway " + std::to_string(i),
                                          .cloud = CloudSwitch::on});
    }
  }

  // All at the same moment, again and again until each has looked five times.
  template <class F>
  void each(const F& work) {
    std::latch together(k_count);
    std::vector<std::jthread> threads;
    for (Supply& supply : supplies) {
      threads.emplace_back([&] {
        together.arrive_and_wait();
        for (int i = 0; i < 5; ++i) work(supply);
      });
    }
  }

  std::vector<std::unique_ptr<PoolStore>> stores;
  std::vector<Supply> supplies;
};

void enqueue_users(PoolStore& store) {
  for (int i = 0; i < k_users; ++i) {
    REQUIRE(store.enqueue(user("u" + std::to_string(i)), 100, k_minute));
  }
}

// Rows that start, each for a waiter of its own.
void check_one_each(PoolStore& store) {
  std::set<WaiterId> waiters;
  int starting = 0;
  for (const Gpu& gpu : store.view().gpus) {
    if (gpu.state != State::starting) continue;
    ++starting;
    if (!gpu.reserved_for.empty()) waiters.insert(gpu.reserved_for);
  }
  CHECK(starting == k_users);
  CHECK(waiters.size() == k_users);
}

}  // namespace

STORE_TEST("gateways that see the same queue create one GPU for each user") {
  const TestType place;
  Gateways gateways(place);
  enqueue_users(*gateways.stores[0]);
  gateways.each([](Supply& supply) { supply.ensure_for_waiters(); });
  check_one_each(*gateways.stores[0]);
}

STORE_TEST("gateways that see the same queue wake one GPU for each user") {
  const TestType place;
  Gateways gateways(place);
  for (int i = 0; i < 2 * k_users; ++i) {
    Gpu paused = gpu_row("g" + std::to_string(i), State::paused);
    paused.source = Source::cloud;
    paused.provider_id = "pod-" + std::to_string(i);
    add(*gateways.stores[0], paused);
  }
  enqueue_users(*gateways.stores[0]);
  gateways.each([](Supply& supply) { supply.ensure_for_waiters(); });
  check_one_each(*gateways.stores[0]);
}

STORE_TEST("gateways that serve users at one moment prepare one GPU more together") {
  const TestType place;
  Gateways gateways(place);
  gateways.each([](Supply& supply) { supply.prepare_next(); });
  CHECK(gateways.stores[0]->view().gpus.size() == 1);
}
