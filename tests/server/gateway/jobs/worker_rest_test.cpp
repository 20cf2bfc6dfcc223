#include "server/gateway/jobs/worker_rest.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

const GpuId k_one{"one"}, k_two{"two"};
using Gpus = std::vector<GpuId>;

}  // namespace

TEST_CASE("a worker that did not do a job rests") {
  WorkerRest rest;
  const WorkerRest::Time now{1h};
  rest.failed(k_one, now);
  CHECK(rest.at(now + 9999ms) == Gpus{k_one});
  CHECK(rest.at(now + 10s).empty());
}

TEST_CASE("a worker that refuses two jobs in a row rests") {
  WorkerRest rest;
  const WorkerRest::Time now{1h};
  rest.refused(k_one, now);
  rest.refused(k_two, now);
  CHECK(rest.at(now).empty());
  rest.done(k_one);
  rest.refused(k_one, now);
  CHECK(rest.at(now).empty());
  rest.refused(k_one, now);
  CHECK(rest.at(now) == Gpus{k_one});
  // Its next refusal is the first of two again.
  rest.refused(k_one, now + 10s);
  CHECK(rest.at(now + 10s).empty());
}
