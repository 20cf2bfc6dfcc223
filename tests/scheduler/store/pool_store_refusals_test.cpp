// The store's contract: waiters who refuse a GPU, because their session has just failed there.
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

Claimant refusing(const std::string& id, std::vector<GpuId> refused,
                  const std::string& tenant = {}) {
  Claimant claimant = user(id, tenant);
  claimant.refuse = std::move(refused);
  return claimant;
}

void wait_in_line(PoolStore& store, const Claimant& claimant) {
  REQUIRE(store.enqueue(claimant, 10, k_minute));
}

std::vector<GpuId> refused_by_first(PoolStore& store) {
  return store.view().waiters.at(0).claimant.refuse;
}

}  // namespace

STORE_TEST("a refused GPU is for those behind, and any other one for who refuses it") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("bad"));
  const Claimant first = refusing("first", {{"bad"}});
  wait_in_line(*store, first);
  wait_in_line(*store, user("second"));
  wait_in_line(*store, user("third"));
  CHECK(!store->claim(first, k_minute));
  CHECK(!store->claim(user("third"), k_minute));
  add(*store, gpu_row("good"));
  CHECK(!store->claim(user("third"), k_minute));
  CHECK(claimed(*store, user("second")).gpu.text == "bad");
  CHECK(!store->claim(user("third"), k_minute));
  CHECK(claimed(*store, first).gpu.text == "good");
}

STORE_TEST("who comes last may have a refused GPU, and no other one, while those ahead need them") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("bad"));
  add(*store, gpu_row("good"));
  wait_in_line(*store, refusing("first", {{"bad"}}));
  // The good one would be the better choice: somebody uses it already.
  add(*store, gpu_row("used", State::idle, 2));
  claimed(*store, refusing("user", {{"bad"}, {"good"}}));
  wait_in_line(*store, refusing("next", {{"bad"}}));
  CHECK(claimed(*store, user("new")).gpu.text == "bad");
  CHECK(!store->claim(user("newer"), k_minute));
}

STORE_TEST("a claim changes what a waiter refuses, and the others hear of it") {
  const TestType place;
  const auto store = place.open();
  const auto another = place.open();  // as another process would have it
  add(*store, gpu_row("a"));
  wait_in_line(*store, user("first"));
  CHECK(refused_by_first(*store).empty());
  wait_in_line(*store, user("second"));
  CHECK(!another->claim(user("second"), k_minute));
  store->wait_for_change(0, k_minute, {});
  const std::uint64_t seen = store->wait_for_change(0, std::chrono::milliseconds(50), {});
  CHECK(!another->claim(refusing("first", {{"a"}, {"gone"}}), k_minute));
  CHECK(store->wait_for_change(seen, k_minute, {}) != seen);
  CHECK(refused_by_first(*store) == std::vector<GpuId>{{"a"}, {"gone"}});
  CHECK(claimed(*store, user("second")).gpu.text == "a");
  CHECK(!store->claim(user("first"), k_minute));
  CHECK(refused_by_first(*store).empty());
}

STORE_TEST("a tenant who refuses its dedicated GPU needs a shared one") {
  const TestType place;
  const auto store = place.open();
  Gpu own = gpu_row("own");
  own.dedicated_to = {"acme"};
  add(*store, own);
  add(*store, gpu_row("shared"));
  const Claimant first = refusing("first", {{"own"}}, "acme");
  wait_in_line(*store, first);
  CHECK(!store->claim(user("stranger"), k_minute));
  CHECK(claimed(*store, user("colleague", "acme")).gpu.text == "own");
  CHECK(claimed(*store, first).gpu.text == "shared");
}
