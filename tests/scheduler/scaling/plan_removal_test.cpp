// The scaler's decision: what is given back, paused or drained, and what never is.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/scheduler/scaling/plan_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

TEST_CASE("the cloud is given back first, the most expensive first, then the newest") {
  Pool pool;
  pool.limits.max_free = 2;
  pool.add(Source::local, State::idle);
  pool.add(Source::cloud, State::idle).usd_per_hour = 0.4;
  pool.add(Source::cloud, State::idle).usd_per_hour = 0.9;
  pool.add(Source::cloud, State::idle).usd_per_hour = 0.4;
  pool.add(Source::cloud, State::idle).usd_per_hour = 0.3;
  CHECK(pool.did() == "destroy g2; destroy g3; destroy g1");
  pool.limits.max_free = 0;
  CHECK(pool.did() == "destroy g2; destroy g3; destroy g1; destroy g4; pause g0");
}

TEST_CASE("of equal prices, those of the emptiest node go first, one node after the other") {
  Pool pool;
  pool.limits.max_free = 3;
  for (const char* node : {"b", "a", "b", "c", "c", "a", "a"}) {
    const GpuId id = pool.add(Source::cloud, State::idle).id;
    pool.snapshot.places.insert_or_assign(id, node);
  }
  CHECK(pool.did() == "destroy g4; destroy g3; destroy g2; destroy g0");
  // A node is empty when its busy ones have left too.
  pool.add(Source::cloud, State::running, 1);
  pool.add(Source::cloud, State::running, 1);
  pool.snapshot.places[pool.snapshot.gpus[7].id] = pool.snapshot.places[pool.snapshot.gpus[8].id] =
      "c";
  pool.limits.max_free = 5;
  CHECK(pool.did() == "destroy g2; destroy g0");
  // The price decides first.
  pool.snapshot.gpus[1].usd_per_hour = 0.9;
  CHECK(pool.did() == "destroy g1; destroy g2");
}

TEST_CASE("of equals, one that was in trouble goes first") {
  Pool pool;
  pool.limits.max_free = 1;
  pool.add(Source::cloud, State::idle).last_error = "answered late";
  pool.add(Source::cloud, State::idle);
  CHECK(pool.did() == "destroy g0");
}

TEST_CASE("static: a GPU that was used or became ready less than the hold ago stays") {
  struct Row {
    Duration idle_for;
    std::uint64_t epoch;
    std::string did;
  };
  for (const Row& row : std::vector<Row>{{1s, 1, ""},
                                         {1s, 0, ""},
                                         {29s, 1, ""},
                                         {30s, 1, "destroy g0"},
                                         {30s, 0, "destroy g0"}}) {
    Pool pool;
    pool.limits.max_free = 0;
    pool.limits.hold_down = 30s;
    Gpu& gpu = pool.add(Source::cloud, State::idle);
    gpu.since = k_now - row.idle_for;
    gpu.epoch = row.epoch;
    INFO(in_seconds(row.idle_for) << " s");
    CHECK(pool.did() == row.did);
    CHECK(pool.plan().kept == (row.did.empty() && row.epoch == 0 ? 1 : 0));
    // Nothing holds it against the operator.
    pool.limits.cloud = CloudSwitch::off;
    CHECK(pool.did() == "destroy g0");
    pool.limits.cloud = CloudSwitch::on;
    gpu.draining = true;
    CHECK(pool.did() == "destroy g0");
  }
}

TEST_CASE("static: users whom no tick saw hold what FREE allowed beside them") {
  Pool pool;
  pool.limits.max_free = 1;
  pool.limits.hold_down = 30s;
  Gpu& used = pool.add(Source::cloud, State::idle);
  used.epoch = 1;
  used.since = k_now - 2s;
  Gpu& prepared = pool.add(Source::cloud, State::idle);
  prepared.since = k_now - 10min;
  CHECK(pool.did() == "");
  CHECK(pool.plan().target.held);
  pool.add(Source::cloud, State::idle).since = k_now - 10min;
  CHECK(pool.did() == "destroy g2");
  pool.snapshot.gpus[0].since = k_now - 30s;
  CHECK(pool.did() == "destroy g2; destroy g1");
}

TEST_CASE("static: in their hold pods stay before idle ones, and nothing goes for them elsewhere") {
  Pool pool;
  pool.limits.max_free = 1;
  pool.limits.hold_down = 30s;
  Gpu& ready = pool.add(Source::cloud, State::idle);
  ready.usd_per_hour = 0.9;
  ready.since = k_now - 2s;
  pool.add(Source::cloud, State::idle).since = k_now - 10min;
  CHECK(pool.did() == "destroy g1");
  pool.snapshot.gpus[1].source = Source::local;
  pool.snapshot.gpus[1].usd_per_hour = 0;
  CHECK(pool.did() == "");
  pool.snapshot.gpus[0].since = k_now - 30s;
  CHECK(pool.did() == "destroy g0");
}

TEST_CASE("what must not be touched is not touched, whatever there is too much of") {
  Pool pool;
  pool.limits.max_free = 0;
  pool.add(Source::cloud, State::running, 1);
  pool.add(Source::cloud, State::idle).dedicated_to = TenantId{"acme"};
  pool.add(Source::external, State::idle);
  auto& draining = pool.add(Source::cloud, State::running, 1);
  draining.draining = true;
  pool.add(Source::cloud, State::starting);
  pool.add(Source::cloud, State::starting).reserved_for = WaiterId{"w"};
  pool.add(Source::cloud, State::idle).reserved_for = WaiterId{"w"};
  pool.add(Source::cloud, State::idle).intent.operation = Operation::pause;
  pool.add(Source::cloud, State::stopping);
  auto& late = pool.add(Source::cloud, State::starting);
  late.dedicated_to = TenantId{"acme"};
  late.since = k_now - 1h;
  auto& broken = pool.add(Source::cloud, State::failed);
  broken.dedicated_to = TenantId{"acme"};
  broken.since = k_now - 1h;
  CHECK(pool.did() == "");
}

TEST_CASE("a reservation does not hold an idle GPU for ever") {
  Pool pool;
  pool.limits.max_free = 0;
  auto& gpu = pool.add(Source::cloud, State::idle);
  gpu.reserved_for = WaiterId{"gone"};
  gpu.since = k_now - 29s;
  CHECK(pool.did() == "");
  gpu.since = k_now - 30s;
  CHECK(pool.did() == "destroy g0");
}

TEST_CASE("drained and without sessions a pod ends, a local GPU is paused, others stay") {
  struct Row {
    Source source;
    State state;
    int sessions;
    std::string did;
  };
  for (const Row& row : std::vector<Row>{{Source::cloud, State::idle, 0, "destroy g0"},
                                         {Source::cloud, State::running, 1, ""},
                                         {Source::cloud, State::starting, 0, ""},
                                         {Source::cloud, State::paused, 0, "destroy g0"},
                                         {Source::cloud, State::stopping, 0, ""},
                                         {Source::local, State::idle, 0, "pause g0"},
                                         {Source::local, State::running, 1, ""},
                                         {Source::local, State::starting, 0, ""},
                                         {Source::local, State::paused, 0, ""},
                                         {Source::external, State::idle, 0, ""},
                                         {Source::external, State::running, 1, ""}}) {
    INFO(name(row.source) << " " << name(row.state));
    Pool pool;
    pool.limits.max_paused_cloud = 1;
    Gpu& gpu = pool.add(row.source, row.state, row.sessions);
    CHECK(pool.did() == "");
    gpu.draining = true;
    CHECK(pool.did() == row.did);
    pool.limits.cloud = CloudSwitch::off;
    CHECK(pool.did() == row.did);
    gpu.intent.operation = Operation::pause;
    CHECK(pool.did() == "");
    gpu.intent.operation = Operation::none;
    gpu.dedicated_to = TenantId{"acme"};
    CHECK(pool.did() == "");
  }
}

TEST_CASE("a drained local GPU holds its device: others come, it does not, until that is undone") {
  Pool pool;
  pool.limits.min_free = 1;
  Gpu& gpu = pool.add(Source::local, State::paused);
  CHECK(pool.did() == "wake g0");
  gpu.draining = true;
  CHECK(pool.did() == "create cloud");
}

TEST_CASE("pods past their age drain one after the other, and others come for them") {
  Pool pool;
  pool.limits.min_free = 1;
  for (const int sessions : {1, 0, 0}) {
    pool.add(Source::cloud, sessions > 0 ? State::running : State::idle, sessions).created_at =
        k_now - 3h;
  }
  pool.add(Source::local, State::idle).created_at = k_now - 3h;
  pool.add(Source::cloud, State::running, 1);  // an hour old
  auto& dedicated = pool.add(Source::cloud, State::idle);
  dedicated.created_at = k_now - 3h;
  dedicated.dedicated_to = TenantId{"acme"};
  CHECK(pool.did() == "");  // no bound
  pool.limits.max_pod_age = 2h;
  CHECK(pool.did() == "drain g0");
  pool.snapshot.gpus[0].draining = true;  // with its session
  CHECK(pool.did() == "drain g1");
  pool.snapshot.gpus[1].draining = true;
  pool.limits.min_free = 3;
  CHECK(pool.did() == "create cloud; destroy g1; drain g2");
  pool.add(Source::cloud, State::starting);
  CHECK(pool.did() == "destroy g1");
}

TEST_CASE("until the history is known nothing is taken away, and more is still brought") {
  Pool pool;
  pool.limits.max_free = 0;
  pool.snapshot.demand.history_ready = false;
  pool.add(Source::cloud, State::idle);
  pool.add(Source::cloud, State::paused);
  CHECK(pool.did() == "");
  pool.limits.min_free = 3;
  CHECK(pool.did() == "wake g1; create cloud");
  // A drained one is none of what is kept for users.
  pool.add(Source::cloud, State::idle).draining = true;
  CHECK(pool.did() == "wake g1; create cloud; destroy g2");
}

TEST_CASE("pods are paused only while that is worth their disk and waking works") {
  Pool pool;
  pool.limits.max_free = 0;
  pool.limits.max_paused_cloud = 2;
  pool.add(Source::cloud, State::paused);
  pool.add(Source::cloud, State::idle);
  pool.add(Source::cloud, State::idle);
  CHECK(pool.did() == "pause g2; destroy g1");
  pool.snapshot.demand.wake[2].success_rate = 0.8;
  CHECK(pool.did() == "destroy g2; destroy g1");
  pool.limits.max_paused_cloud = 0;
  CHECK(pool.did() == "destroy g2; destroy g1; destroy g0");
}

TEST_CASE("cloud off: idle pods end, busy ones finish, nothing is made there") {
  Pool pool;
  pool.limits.cloud = CloudSwitch::off;
  pool.limits.min_free = 2;
  pool.add(Source::cloud, State::idle);
  pool.add(Source::cloud, State::running, 1);
  pool.add(Source::cloud, State::paused);
  CHECK(pool.did() == "destroy g0; destroy g2");
  CHECK_FALSE(pool.plan().cloud);
}
