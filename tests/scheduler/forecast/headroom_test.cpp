// What is learned from users who came when nobody expected them.
#include "scheduler/forecast/headroom.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "scheduler/forecast/demand.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

// A pool that is looked at every five seconds. Nobody is busy except in the batches.
struct Watch {
  Headroom headroom{};
  TimePoint now{std::chrono::hours(500000)};
  double fast_per_s = 0;

  void tick(int arrived, int busy, double deviation) {
    now += 5s;
    fast_per_s *= std::exp(-5 / in_seconds(k_fast_memory));
    fast_per_s += arrived / in_seconds(k_fast_memory);
    headroom.observe(now, {.busy = busy,
                           .fast_per_s = fast_per_s,
                           .outlook = {.horizon_s = 100, .mean = 0, .deviation = deviation}});
  }
  // An hour of one user every half minute, then a batch.
  void hour(int batch, double deviation) {
    for (int i = 0; i < 720; ++i) tick(i % 6 == 0 ? 1 : 0, 1, deviation);
    tick(batch, batch, deviation);
  }
  double slots(double deviation, double wait_probability) const {
    return headroom.learned(deviation, wait_probability).deviations * deviation;
  }
};

}  // namespace

TEST_CASE("before users have come nothing learned is trusted") {
  CHECK(Headroom{}.learned(3, 0.01) == Headroom::Learned{});
  Watch watch;
  for (int i = 0; i < 500; ++i) watch.tick(0, 0, 2);
  CHECK(watch.headroom.learned(3, 0.01).trust == 0);
  CHECK(watch.headroom.users == 0);
}

TEST_CASE("who comes is counted by the rise of the fast average") {
  Watch watch;
  watch.hour(12, 2);
  CHECK(watch.headroom.users == Approx(120 + 12).margin(5));
}

TEST_CASE("batches as large at any load are learned in slots") {
  Watch watch;
  for (int i = 0; i < 40; ++i) watch.hour(20, i % 2 == 0 ? 1 : 4);
  const Headroom::Learned low = watch.headroom.learned(1, 0.01);
  CHECK(low.shape == 0);
  CHECK(low.trust == Approx(40.0 / 60).epsilon(0.1));
  CHECK(watch.slots(1, 0.01) == Approx(20).epsilon(0.2));
  CHECK(watch.slots(4, 0.01) == Approx(watch.slots(1, 0.01)));
}

TEST_CASE("batches that grow with the deviation are learned in deviations") {
  Watch watch;
  for (int i = 0; i < 40; ++i) watch.hour(i % 2 == 0 ? 8 : 32, i % 2 == 0 ? 2 : 8);
  CHECK(watch.headroom.learned(2, 0.01).shape == 1);
  CHECK(watch.slots(2, 0.01) == Approx(8).epsilon(0.2));
  CHECK(watch.slots(8, 0.01) == Approx(32).epsilon(0.2));
}

TEST_CASE("fewer waiting users take more slots, and beyond what was seen a normal tail's") {
  Watch watch;
  for (int i = 0; i < 40; ++i) watch.hour(20, 2);
  double before = 0;
  for (const double wait_probability : {0.3, 0.1, 0.01, 0.001, 1e-6, 1e-10}) {
    const double slots = watch.slots(2, wait_probability);
    CHECK(slots >= before);
    before = slots;
  }
  CHECK(before > 1.5 * watch.slots(2, 0.01));
}

TEST_CASE("users who were expected teach no distrust of the normal quantile") {
  Watch watch;
  for (int i = 0; i < 40; ++i) watch.hour(4, 2);
  CHECK(watch.headroom.bursts == 0);
  CHECK(watch.headroom.learned(2, 0.01).trust == 0);
}

TEST_CASE("nothing is learned from a time in which nobody looked") {
  Watch watch;
  watch.hour(1, 2);
  const double users = watch.headroom.users;
  watch.now += 1h;
  watch.tick(50, 50, 2);
  CHECK(watch.headroom.users == users);
}

TEST_CASE("what is a month old weighs a third") {
  Watch watch;
  watch.hour(20, 2);
  const double users = watch.headroom.users;
  watch.fast_per_s = 0;
  for (int i = 0; i < 30 * 24 * 12; ++i) {
    watch.now += 295s;
    watch.tick(0, 0, 2);
  }
  CHECK(watch.headroom.users == Approx(users * std::exp(-1.0)).epsilon(0.03));
}

TEST_CASE("what was learned survives as text") {
  Watch watch;
  for (int i = 0; i < 3; ++i) watch.hour(20, 2);
  watch.headroom.used = {.deviations = 4.5, .trust = 0.25, .shape = 0.5};
  const std::optional<Headroom> read = parse_headroom(as_text(watch.headroom));
  REQUIRE(read);
  CHECK(read->at == watch.headroom.at);
  CHECK(read->newest == watch.headroom.newest);
  CHECK(read->learned(2, 0.01).deviations ==
        Approx(watch.headroom.learned(2, 0.01).deviations).epsilon(1e-3));
  CHECK(as_text(*read) == as_text(watch.headroom));
  CHECK(parse_headroom(as_text(Headroom{})) == Headroom{});
  const std::string text = as_text(watch.headroom);
  CHECK_FALSE(parse_headroom(""));
  CHECK_FALSE(parse_headroom("3" + text.substr(1)));
  CHECK_FALSE(parse_headroom(text + " 1"));
  CHECK_FALSE(parse_headroom(text.substr(0, text.rfind(' '))));
  Headroom beyond;
  beyond.newest = 99;  // in a ring of sixteen
  CHECK_FALSE(parse_headroom(as_text(beyond)));
}

TEST_CASE("a month of learning outlives the form that its text had before") {
  Watch watch;
  for (int i = 0; i < 3; ++i) watch.hour(20, 2);
  std::string text = as_text(watch.headroom);
  for (int i = 0; i < 3; ++i) text.erase(text.rfind(' '));  // Headroom::used
  text.front() = '1';
  const std::optional<Headroom> read = parse_headroom(text);
  REQUIRE(read);
  CHECK(as_text(*read) == as_text(watch.headroom));
}
