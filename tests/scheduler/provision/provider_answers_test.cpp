// What an executor's providers answered, counted for who has to say whether work was done.
#include "scheduler/provision/executor/provider_answers.h"

#include <catch2/catch.hpp>

#include "core/process/identity.h"
#include "scheduler/provision/executor/executor.h"
#include "scheduler/provision/supply.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

TEST_CASE("what providers answered is counted by what was asked, and handed over once") {
  SmallPool pool;
  ScriptedProvider cloud{Source::cloud};
  Executor executor(*pool.store, {&cloud}, {.owner = this_process(), .host = "here"}, [] {});
  const auto settle = [&] {
    executor.step();
    REQUIRE(executor.wait_idle(std::chrono::seconds(20), {}));
  };
  pool.wanting(Source::cloud, Operation::create);
  settle();
  pool.wanting(Source::cloud, Operation::create);
  cloud.answer(Operation::create, {Refused{"bad key", true}});
  settle();
  const AnswersBySource first = executor.take_answers();
  REQUIRE(first.size() == 1);
  CHECK(first.at(Source::cloud).growth.done == 1);
  CHECK(first.at(Source::cloud).growth.failed == 1);
  CHECK(first.at(Source::cloud).growth.last_failure == "create: bad key");
  CHECK(first.at(Source::cloud).release.asked() == 0);
  CHECK(executor.take_answers().empty());

  Gpu gpu = new_gpu(pool.identity, Source::cloud);
  gpu.state = State::stopping;
  gpu.provider_id = "pod-9";
  pool.wanting(Source::cloud, Operation::destroy, gpu);
  cloud.answer(Operation::destroy, {Failure{"broken"}});
  settle();
  CHECK(executor.take_answers().at(Source::cloud).release.last_failure == "destroy: broken");
}
