// The store's contract: GPUs that are added or woken for users, and no more than users ask for.
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

STORE_TEST("a GPU for users is added only while fewer slots are coming than users wait") {
  const TestType place;
  const auto store = place.open();
  const auto offer = [&](const std::string& id, int spare = 0) {
    const auto row = store->add(
        {.gpu = gpu_row(id, State::starting), .for_users = ForUsers{.spare = spare}}, k_test);
    return row ? std::optional(row->reserved_for.text) : std::nullopt;
  };
  CHECK(offer("nobody waits") == std::nullopt);
  for (const char* id : {"u1", "u2", "u3"}) REQUIRE(store->enqueue(user(id), 10, k_minute));
  CHECK(offer("a") == "u1");
  CHECK(offer("b") == "u2");
  store->leave({"u3"});
  CHECK(offer("c") == std::nullopt);
  CHECK(offer("d", 1) == "");
  CHECK(offer("e", 1) == std::nullopt);
  CHECK(store->view().gpus.size() == 3);
}

STORE_TEST("dedicated, draining, failed, paused and full GPUs count as no coming slots") {
  const TestType place;
  const auto store = place.open();
  REQUIRE(store->enqueue(user("u"), 10, k_minute));
  Gpu dedicated = gpu_row("dedicated"), draining = gpu_row("draining");
  dedicated.dedicated_to = {"acme"};
  draining.draining = true;
  add(*store, dedicated);
  add(*store, draining);
  add(*store, gpu_row("failed", State::failed));
  add(*store, gpu_row("paused", State::paused));
  add(*store, gpu_row("stopping", State::stopping));
  const NewGpu wanted{.gpu = gpu_row("a", State::starting, 2), .for_users = ForUsers{}};
  CHECK(store->add(wanted, k_test).has_value());
  CHECK_FALSE(store->add({.gpu = gpu_row("b"), .for_users = ForUsers{.spare = 1}}, k_test));
}

STORE_TEST("a GPU for users is woken only while fewer slots are coming than users wait") {
  const TestType place;
  const auto store = place.open();
  const auto wake = [&](const std::string& id, std::optional<ForUsers> users) {
    return store->change({.id = {id}, .version = 1, .event = Event::wake, .for_users = users},
                         k_test);
  };
  for (const char* id : {"a", "b", "c"}) add(*store, gpu_row(id, State::paused));
  CHECK_FALSE(wake("a", ForUsers{}));
  CHECK(found(*store, "a").state == State::paused);
  REQUIRE(store->enqueue(user("u"), 10, k_minute));
  const auto woken = wake("a", ForUsers{});
  REQUIRE(woken);
  CHECK(woken->reserved_for == WaiterId{"u"});
  CHECK(found(*store, "a").reserved_for == WaiterId{"u"});
  CHECK_FALSE(wake("b", ForUsers{}));
  CHECK(wake("b", std::nullopt));  // the scaler asks for no user
  CHECK_FALSE(wake("c", ForUsers{.spare = 1}));
}
