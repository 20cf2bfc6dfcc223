// What sessions used by day and tenant: how a session is divided, and what the store keeps (its contract).
#include "scheduler/pool/usage.h"

#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::sys_days k_sunday{std::chrono::year{2026} / 11 / 22};

Gpu priced(double usd, int slots) {
  Gpu gpu = gpu_row("pod", State::idle, slots);
  gpu.source = Source::cloud;
  gpu.provider_id = "p";
  gpu.usd_per_hour = usd;
  return gpu;
}

}  // namespace

TEST_CASE("a session over two midnights is three pieces, and counts on the day on which it ended") {
  const auto pieces = usage_of({"acme"}, priced(1.2, 3), TimePoint(k_sunday) + 23h,
                               TimePoint(k_sunday) + 50h, true);
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[0].day == k_sunday);
  CHECK(pieces[0].seconds == Approx(3600));
  CHECK(pieces[0].usd == Approx(0.4));
  CHECK(pieces[0].sessions == 0);
  CHECK(pieces[1].day == k_sunday + std::chrono::days(1));
  CHECK(pieces[1].seconds == Approx(86400));
  CHECK(pieces[1].usd == Approx(9.6));
  CHECK(pieces[2].seconds == Approx(7200));
  CHECK(pieces[2].sessions == 1);
  CHECK(pieces[2].tenant.text == "acme");
  CHECK(pieces[2].origin == Origin::runpod);
}

TEST_CASE("a session without length counts once, and an open one not yet") {
  const TimePoint noon = TimePoint(k_sunday) + 12h;
  const auto ended = usage_of({}, priced(1, 1), noon, noon, true);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].sessions == 1);
  CHECK(ended[0].usd == 0);
  // A wall clock that was set back.
  CHECK(usage_of({}, priced(1, 1), noon, noon - 1h, true).at(0).seconds == 0);
  const auto open = usage_of({}, priced(1, 1), noon, noon + 1h, false);
  REQUIRE(open.size() == 1);
  CHECK(open[0].sessions == 0);
}

STORE_TEST("ended and expired sessions are summed by tenant; one that never began is not") {
  const TestType place;
  const auto store = place.open();
  add(*store, priced(3.6e6, 4));  // 250 dollars a second and slot: a moment is seen
  for (const char* tenant : {"acme", "acme", "other"}) {
    const Lease lease = claimed(*store, user(std::string("u-") + tenant, tenant));
    store->release(lease.id, lease.epoch);
  }
  const Lease never = claimed(*store, user("never", "acme"));
  store->unclaim(never.id, never.epoch);
  REQUIRE(store->claim(user("gone", "third"), k_moment));
  store->expire();

  const auto usage = store->usage({});
  // A run over midnight has two days.
  std::map<std::string, Usage> sums;
  for (const Usage& piece : usage) {
    CHECK(piece.origin == Origin::runpod);
    CHECK(piece.usd == Approx(250 * piece.seconds));
    sums[piece.tenant.text].sessions += piece.sessions;
    sums[piece.tenant.text].usd += piece.usd;
  }
  CHECK(sums.size() == 3);
  CHECK(sums["acme"].sessions == 2);
  CHECK(sums["acme"].usd > 0);
  CHECK(sums["other"].sessions == 1);
  CHECK(sums["third"].sessions == 1);
  CHECK(store
            ->usage(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()) +
                    std::chrono::days(2))
            .empty());
  store->forget({}, store->now() + std::chrono::days(2));
  CHECK(store->usage({}).empty());
}
