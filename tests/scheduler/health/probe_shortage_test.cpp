// A process that has no descriptor to ask workers.
#include <catch2/catch.hpp>

#include "scheduler/provision/external_provider.h"
#include "tests/no_descriptors.h"
#include "tests/scheduler/health/probed_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

TEST_CASE("a probe without a descriptor counts neither as a miss nor as a good answer") {
  ProbedPool world;
  const Gpu gpu = world.put(Source::local, State::idle);
  {
    const NoDescriptors none;
    world.look(4);
  }
  CHECK(world.pool.row(gpu).state == State::idle);
  CHECK(world.pool.row(gpu).misses == 0);
  CHECK(world.pool.row(gpu).last_error.empty());
  CHECK(world.pool.row(gpu).seen_at == TimePoint{});
  world.look();
  CHECK(world.pool.row(gpu).seen_at > TimePoint{});
}

TEST_CASE("a worker that could not be asked to pause or wake has not failed to do so") {
  const LoopbackServer server(
      [](Connection& client, const ReceivedRequest&) { client.answer(200, "{}"); });
  ExternalProvider provider(WorkerTokens("secret"));
  Gpu gpu;
  gpu.url = server.url();
  const NoDescriptors none;
  CHECK(std::holds_alternative<UnknownOutcome>(provider.pause(gpu, {})));
  CHECK(std::holds_alternative<UnknownOutcome>(provider.wake(gpu, {})));
}
