// The correction of promised ETAs, read in pieces from the store.
#include "scheduler/forecast/eta_correction.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "scheduler/simulator/random.h"
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_begin{std::chrono::hours(500000)};

TimePoint known_at(const Promise& promise) { return promise.made_at + *promise.actual; }
TimePoint bucket_of(TimePoint at) {
  return TimePoint(at.time_since_epoch() / EtaCorrection::k_bucket * EtaCorrection::k_bucket);
}

// 30 hours of promises, many at about the same time, in the order of their outcomes; in some hours
// most hold, in others many break.
std::vector<Promise> generated() {
  Random random(7, 1);
  std::vector<Promise> all;
  for (int i = 0; i < 900; ++i) {
    const TimePoint made_at = k_begin + i / 10 * 20min + from_seconds(12 * random.uniform());
    const double wide = i / 100 % 2 == 0 ? 1.5 : 2.5;
    all.push_back({.waiter = {"w" + std::to_string(i)},
                   .made_at = made_at,
                   .promised = from_seconds(300 * wide),
                   .actual = from_seconds(random.lognormal(300, 0.5))});
  }
  std::sort(all.begin(), all.end(), [](const Promise& left, const Promise& right) {
    return known_at(left) < known_at(right);
  });
  return all;
}

// Of all that the store would show at `now`, oldest first.
double of_all(const std::vector<Promise>& promises, TimePoint now) {
  std::vector<Promise> known;
  const TimePoint begin = bucket_of(now - EtaCorrection::k_window);
  std::copy_if(
      promises.begin(), promises.end(), std::back_inserter(known),
      [&](const Promise& promise) { return known_at(promise) <= now && promise.made_at >= begin; });
  std::sort(known.begin(), known.end(),
            [](const Promise& left, const Promise& right) { return left.made_at < right.made_at; });
  return eta_correction(known);
}

}  // namespace

STORE_TEST("promises that are read in pieces teach what all of them teach at once") {
  const TestType place;
  const auto store = place.open();
  const std::vector<Promise> promises = generated();
  EtaCorrection pieces;
  int between = 0;
  std::size_t next = 0;
  for (TimePoint now = k_begin; now < k_begin + 32h; now += 47min) {
    for (; next < promises.size() && known_at(promises[next]) <= now; ++next) {
      store->record(promises[next]);
    }
    pieces.read(*store, now);
    EtaCorrection whole;
    whole.read(*store, now);
    const double expected = of_all(promises, now);
    CHECK(pieces.factor() == Approx(expected).epsilon(1e-9));
    CHECK(whole.factor() == Approx(expected).epsilon(1e-9));
    if (expected > 1.01 && expected < 3.99) ++between;
  }
  CHECK(next == promises.size());
  CHECK(between > 10);
}

STORE_TEST("a clock that was set back loses no promise and counts none twice") {
  const TestType place;
  const auto store = place.open();
  const auto broken = [&](TimePoint made_at) {
    store->record(Promise{.made_at = made_at, .promised = 10s, .actual = 1min});
  };
  EtaCorrection correction;
  for (int i = 0; i < 5; ++i) broken(k_begin + i * 1s);
  correction.read(*store, k_begin + 2min);
  const double five = correction.factor();
  broken(k_begin - 1h);
  correction.read(*store, k_begin - 58min);
  const double six = correction.factor();
  correction.read(*store, k_begin - 57min);
  CHECK(correction.factor() == Approx(six));
  CHECK(std::log(six) == Approx(std::log(five) * 6 / 5));
}
