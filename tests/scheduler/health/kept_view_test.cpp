#include "scheduler/health/kept_view.h"

#include <catch2/catch.hpp>

#include "tests/scheduler/dying_store.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

struct CountingStore : DyingStore {
  explicit CountingStore(PoolStore& store) : DyingStore(store, 1000) {}
  PoolView view() override {
    ++views;
    return DyingStore::view();
  }
  int views = 0;
};

}  // namespace

TEST_CASE("a view that is kept shows a change at once, and is not read again without one") {
  SmallPool pool;
  const Gpu first = pool.add(new_gpu(pool.identity, Source::external));
  CountingStore store(*pool.store);
  KeptView kept(store, 1h);
  CHECK(kept.current().gpus.size() == 1);
  kept.current();  // from here on changes are counted
  const int before = store.views;
  store.seen({{first.id}}, store.now());  // a probe's answer is not a change
  for (int i = 0; i < 10; ++i) kept.current();
  CHECK(store.views == before);
  pool.add(new_gpu(pool.identity, Source::external));
  CHECK(kept.current().gpus.size() == 2);
  kept.current();
  CHECK(store.views == before + 1);
}

TEST_CASE("a view that is not kept is read every time") {
  SmallPool pool;
  CountingStore store(*pool.store);
  KeptView kept(store, 0s);
  for (int i = 0; i < 3; ++i) kept.current();
  CHECK(store.views == 3);
}
