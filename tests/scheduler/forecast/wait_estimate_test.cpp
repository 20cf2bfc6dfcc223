#include "scheduler/forecast/wait_estimate.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "scheduler/forecast/eta_correction.h"
#include "scheduler/simulator/random.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_now{std::chrono::hours(500000)};

Demand demand() {
  Demand demand{.session_s = 300};
  for (LeadTime& lead : demand.create) lead = {.p50 = 90s, .p90 = 150s};
  for (LeadTime& lead : demand.wake) lead = {.p50 = 5s, .p90 = 8s};
  return demand;
}

Gpu starting(Duration since, Operation operation = Operation::create) {
  return {.id = {},
          .source = Source::cloud,
          .state = State::starting,
          .since = k_now - since,
          .intent = {.operation = operation}};
}
Gpu running() {
  return {.id = {}, .source = Source::cloud, .state = State::running, .sessions = 1};
}

double eta_s(std::size_t position, const std::vector<Gpu>& gpus, const Demand& known = demand(),
             double eta_correction = 1) {
  const auto eta = estimate(position, gpus, known, eta_correction, k_now);
  return eta ? in_seconds(eta->p90) : -1;
}

}  // namespace

TEST_CASE("one that starts now promises its lead time's 90th percentile") {
  CHECK(eta_s(1, {starting(0s)}) == Approx(150).epsilon(0.02));
  CHECK(eta_s(1, {starting(0s, Operation::wake)}) == Approx(8).epsilon(0.05));
}

TEST_CASE("the time that a GPU has been starting already is taken off, as far as it helps") {
  const double begun = eta_s(1, {starting(60s)});
  CHECK(begun < 110);
  CHECK(begun > 60);
  CHECK(eta_s(1, {starting(10min)}) > 0);  // overdue: no promise of now
}

TEST_CASE("the more of them, the sooner; the further back, the later") {
  const std::vector<Gpu> two = {starting(0s), starting(0s)};
  CHECK(eta_s(1, two) < eta_s(1, {starting(0s)}));
  CHECK(eta_s(2, two) > eta_s(1, two));
}

TEST_CASE("sessions that end count: of twenty, one ends soon") {
  const std::vector<Gpu> twenty(20, running());
  CHECK(eta_s(1, twenty) == Approx(300.0 / 20 * std::log(10.0)).epsilon(0.03));
  CHECK(eta_s(5, twenty) > eta_s(1, twenty));
}

TEST_CASE("a slot is left again and again: who stands far back waits for as many ends") {
  // The fourth end of one slot: the 90th percentile of an Erlang distribution of four stages.
  CHECK(eta_s(4, {running()}) == Approx(6.68 * 300).epsilon(0.02));
  CHECK(eta_s(3, {starting(0s)}) > eta_s(2, {starting(0s)}));
  CHECK(eta_s(2, {starting(0s)}) > 300 * std::log(10.0));
}

TEST_CASE("a start that often fails is tried again: it takes longer") {
  Demand unsure = demand();
  unsure.create[2].success_rate = 0.7;
  CHECK(eta_s(1, {starting(0s)}, unsure) > 200);
}

TEST_CASE("nothing that starts and nothing that ends: not known") {
  CHECK(eta_s(1, {}) == -1);
  Gpu dedicated = starting(0s);
  dedicated.dedicated_to = TenantId{"acme"};
  CHECK(eta_s(1, {dedicated}) == -1);
}

TEST_CASE("a free slot is there at once, and takes the head's place in the count") {
  Gpu idle{.id = {}, .state = State::idle};
  CHECK(eta_s(1, {idle}) == 0);
  CHECK(eta_s(2, {idle, starting(0s)}) < 150);  // the head may leave again before
  CHECK(eta_s(2, {idle, starting(0s)}) > 90);
}

TEST_CASE("the ETA correction lengthens what is promised") {
  CHECK(eta_s(1, {starting(0s)}, demand(), 2) == Approx(2 * eta_s(1, {starting(0s)})));
}

TEST_CASE("promises that hold leave the width alone; where they break it grows, within bounds") {
  const auto promises = [](int kept, int broken) {
    std::vector<Promise> all;
    for (int i = 0; i < kept + broken; ++i) {
      const bool keeps = i * kept / (kept + broken) != (i + 1) * kept / (kept + broken);
      all.push_back({.promised = 10s, .actual = keeps ? 5s : 20s});
    }
    return all;
  };
  CHECK(eta_correction({}) == 1);
  CHECK(eta_correction(promises(100, 0)) == 1);
  CHECK(eta_correction(promises(95, 5)) < 1.2);
  CHECK(eta_correction(promises(50, 50)) > 2);
  CHECK(eta_correction(promises(0, 1000)) == Approx(4));
  std::vector<Promise> left(100, Promise{.promised = 10s});
  CHECK(eta_correction(left) == 1);
}

TEST_CASE(
    "with the learned width nine in ten promises hold, although the estimate is half the truth") {
  Random random(3, 1);
  std::vector<Promise> all;
  int kept = 0;
  for (int i = 0; i < 4000; ++i) {
    const double wide = eta_correction(std::span(all).last(std::min<std::size_t>(all.size(), 400)));
    const auto shown = from_seconds(30 * wide);
    const auto actual = from_seconds(random.lognormal(30, 0.5));
    if (i >= 500 && actual <= shown) ++kept;
    all.push_back({.promised = shown, .actual = actual});
  }
  CHECK(kept / 3500.0 == Approx(0.9).margin(0.02));
}
