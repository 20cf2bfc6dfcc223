// An executor with one cloud provider that a test scripts.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>

#include "core/process/identity.h"
#include "scheduler/provision/executor/executor.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

namespace navtalk::tests {

inline constexpr Duration k_long = std::chrono::seconds(20);

struct ExecutorWorld {
  SmallPool pool;
  ScriptedProvider cloud{Source::cloud};
  std::atomic<int> failures{0};
  Executor executor{
      *pool.store, {&cloud}, {.owner = this_process(), .host = "here", .threads = 2}, [this] {
        ++failures;
      }};

  void settle() {
    executor.step();
    REQUIRE(executor.wait_idle(k_long, {}));
  }
};

}  // namespace navtalk::tests
