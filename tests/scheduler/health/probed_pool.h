// A pool with one worker that answers as its script says, and a prober to which everything is due at
// every step.
#pragma once

#include <catch2/catch.hpp>

#include "scheduler/health/prober.h"
#include "tests/fakes/fake_worker.h"
#include "tests/scheduler/small_pool.h"

namespace navtalk::tests {

inline constexpr Duration k_long = std::chrono::seconds(60);

struct ProbedPool {
  SmallPool pool{};
  FakeWorker worker{};
  LoopbackServer server{[this](Connection& client, const ReceivedRequest& request) {
    worker.handle(client, request);
  }};
  Prober prober;

  // Of the options those count that say how workers are asked.
  explicit ProbedPool(ProberOptions options = {}) : prober(*pool.store, at_once(options)) {}

  Gpu put(Source source, State state) { return put(source, state, server.url()); }
  // `provider_id`: of a cloud's; by default a pod at Runpod.
  Gpu put(Source source, State state, const std::string& url,
          const std::string& provider_id = "pod") {
    Gpu gpu = new_gpu(pool.identity, source);
    gpu.state = state;
    gpu.host = "here";
    gpu.slots = 4;
    gpu.url = url;
    if (source == Source::cloud) gpu.usd_per_hour = 0.5;
    if (source == Source::cloud) gpu.provider_id = provider_id;
    return pool.add(gpu);
  }
  // Another way to the same worker.
  std::string alias() const {
    return "http://localhost" + server.url().substr(server.url().rfind(':'));
  }
  void look(int times = 1, bool leading = true) {
    for (int i = 0; i < times; ++i) {
      prober.step(leading);
      REQUIRE(prober.wait_idle(k_long, {}));
    }
  }

 private:
  static ProberOptions at_once(ProberOptions options) {
    options.who = "test";
    options.host = "here";
    options.starting_every = options.running_every = options.failed_every =
        options.paused_every = {};
    options.record_every = options.look_every = options.grace = {};
    return options;
  }
};

// Beside it a pod that is silent is no outage.
struct AnsweringPod {
  FakeWorker worker{};
  LoopbackServer server{[this](Connection& client, const ReceivedRequest& request) {
    worker.handle(client, request);
  }};
  explicit AnsweringPod(ProbedPool& world) { world.put(Source::cloud, State::idle, server.url()); }
};

}  // namespace navtalk::tests
