#include "server/gateway/jobs/faults/worker_rest.h"

#include <catch2/catch.hpp>

#include "server/gateway/jobs/faults/doubted_jobs.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

const GpuId k_one{"one"}, k_two{"two"};
const TenantId k_bad_tenant{"acme"}, k_other_tenant{"other"};
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
  rest.begun(k_bad_tenant, now);
  rest.refused(k_one, k_bad_tenant, now);
  rest.refused(k_two, k_bad_tenant, now);
  CHECK(rest.at(now).empty());
  rest.done(k_one);
  rest.refused(k_one, k_bad_tenant, now);
  CHECK(rest.at(now).empty());
  rest.refused(k_one, k_bad_tenant, now);
  CHECK(rest.at(now) == Gpus{k_one});
  // Its next refusal is the first of two again.
  rest.refused(k_one, k_bad_tenant, now + 10s);
  CHECK(rest.at(now + 10s).empty());
}

TEST_CASE("a worker does not rest for refused jobs of one tenant while others have jobs") {
  WorkerRest rest;
  const WorkerRest::Time now{1h};
  rest.begun(k_other_tenant, now);
  rest.begun(k_bad_tenant, now);
  for (int i = 0; i < 100; ++i) rest.refused(k_one, k_bad_tenant, now);
  CHECK(rest.at(now).empty());
  SECTION("it does for those of two") {
    rest.refused(k_one, k_other_tenant, now);
    CHECK(rest.at(now) == Gpus{k_one});
  }
  SECTION("it does when the others have had none for an hour") {
    rest.begun(k_bad_tenant, now + 1h);
    rest.refused(k_one, k_bad_tenant, now + 1h);
    CHECK(rest.at(now + 1h) == Gpus{k_one});
  }
  SECTION("a job that it does is the end of the row") {
    rest.done(k_one);
    rest.refused(k_one, k_other_tenant, now);
    CHECK(rest.at(now).empty());
  }
}

TEST_CASE("a worker is believed that a job is unfit when it has done one and refused none since") {
  WorkerRest rest;
  const WorkerRest::Time now{1h};
  CHECK_FALSE(rest.believed(k_one));
  rest.done(k_one);
  CHECK(rest.believed(k_one));
  CHECK_FALSE(rest.believed(k_two));
  rest.refused(k_one, k_bad_tenant, now);
  CHECK_FALSE(rest.believed(k_one));
  rest.done(k_one);
  CHECK(rest.believed(k_one));
  rest.failed(k_one, now);  // it may be another process by now
  CHECK_FALSE(rest.believed(k_one));
}

TEST_CASE("a job is doubted by one worker, however often it comes there, and judged by the next") {
  const JobId job{"job"}, other{"other"};
  DoubtedJobs doubted;
  CHECK(doubted.may_doubt(job, k_one));
  doubted.doubted(job, k_one);
  CHECK_FALSE(doubted.may_doubt(job, k_two));
  CHECK(doubted.may_doubt(other, k_two));
  CHECK(doubted.may_doubt(job, k_one));  // no other one was free
  doubted.doubted(job, k_one);
  CHECK(doubted.may_doubt(job, k_one));
  doubted.doubted(job, k_one);
  CHECK_FALSE(doubted.may_doubt(job, k_one));
  doubted.ended(job);
  CHECK(doubted.may_doubt(job, k_one));
}
