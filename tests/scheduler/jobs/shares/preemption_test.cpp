// Which jobs give way to other tenants'.
#include "scheduler/jobs/shares/preemption.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "scheduler/simulator/random.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_now{std::chrono::hours(24 * 365)};
constexpr VideoMinutes k_hour{1h};

// Slots on which tenants' jobs of an hour run, claimed in the fair order.
class Lane {
 public:
  explicit Lane(std::vector<TenantTerms> terms) {
    for (const TenantTerms& one : terms) tenants.push_back({.use = {.terms = one}});
  }

  void add(std::size_t tenant, int jobs) { tenants[tenant].use.waiting += jobs; }
  // So many claims, of the tenant that is next or of this one.
  void claim(int count, Duration ago = 10min, std::optional<std::size_t> tenant = {}) {
    for (int i = 0; i < count; ++i) {
      const std::size_t next = tenant ? *tenant : next_tenant();
      SlotTenant& one = tenants[next];
      one.place = place_after(candidate(next), k_hour, times);
      --one.use.waiting;
      ++one.use.running;
      runs.push_back(
          {.job = ++jobs_, .tenant = next, .since = k_now - ago, .left = k_hour, .placed = k_hour});
    }
  }
  std::vector<Preemption> decide(const PreemptionRules& rules = {}, const SlotNeed& need = {}) {
    for (std::size_t i = 0; i < tenants.size(); ++i) {
      tenants[i].first.reset();
      if (tenants[i].use.waiting > 0) tenants[i].first = candidate(i);
    }
    return preemptions(tenants, runs, times, k_now, rules, need);
  }
  void end(std::size_t run) {
    SlotTenant& one = tenants[runs[run].tenant];
    --one.use.running;
    ++one.use.waiting;
    one.place.finished -= runs[run].placed.count() / one.use.terms.weight;
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(run));
  }
  // Of the slots in use, and as many that are free.
  std::vector<double> parts(int free = 0) const {
    std::vector<SlotUse> uses;
    std::int64_t slots = free;
    for (const SlotTenant& tenant : tenants) {
      uses.push_back(tenant.use);
      slots += tenant.use.running;
    }
    return slot_parts(uses, slots);
  }
  std::size_t next_tenant() const {
    std::vector<ClaimCandidate> all;
    std::vector<std::size_t> whose;
    const std::vector<double> part = parts(1);
    for (std::size_t i = 0; i < tenants.size(); ++i) {
      if (tenants[i].use.waiting == 0) continue;
      all.push_back(candidate(i));
      all.back().below = below_part(tenants[i].use.running, part[i]);
      whose.push_back(i);
    }
    return whose.at(choose(all, times, k_now).value());
  }

  std::vector<SlotTenant> tenants{};
  std::vector<SlotRun> runs{};
  VirtualTimes times{};
  Duration waited{};  // each first job

 private:
  ClaimCandidate candidate(std::size_t tenant) const {
    return {.order = static_cast<std::int64_t>(tenant),
            .plan = tenants[tenant].use.terms.plan,
            .weight = tenants[tenant].use.terms.weight,
            .place = tenants[tenant].place,
            .waits_since = k_now - waited};
  }

  std::int64_t jobs_ = 0;
};

Lane flooded(int slots, std::size_t tenants = 2) {
  Lane lane{std::vector<TenantTerms>(tenants)};
  lane.add(0, slots + 100);
  lane.claim(slots);
  return lane;
}

}  // namespace

TEST_CASE("one of a flood's jobs gives way to a tenant that has none, whichever can first") {
  Lane lane = flooded(4);
  lane.add(1, 3);
  CHECK(lane.decide() == std::vector<Preemption>{{.runs = {0, 1, 2, 3}, .count = 1}});
}

TEST_CASE("each tenant that waits below its share gets a job of the flood's") {
  Lane lane = flooded(4, 3);
  lane.add(1, 1);
  lane.add(2, 1);
  CHECK(lane.decide() == std::vector<Preemption>{{.runs = {0, 1, 2, 3}, .count = 2}});
}

TEST_CASE("where one tenant alone waits or runs no job gives way") {
  CHECK(flooded(4).decide().empty());
  Lane idle{{{}, {}}};
  idle.add(1, 3);
  CHECK(idle.decide().empty());
}

TEST_CASE("a job gives way to nobody soon after it was claimed, nor when it is nearly done") {
  Lane lane = flooded(4);
  lane.add(1, 1);
  lane.runs[1].since = k_now - 4s;
  lane.runs[2].left = VideoMinutes(19s);
  CHECK(lane.decide() == std::vector<Preemption>{{.runs = {0, 3}, .count = 1}});
  for (SlotRun& run : lane.runs) run.since = k_now - 4s;
  CHECK(lane.decide().empty());
}

TEST_CASE("a tenant that has its share takes nothing more") {
  Lane lane{{{}, {}}};
  lane.add(0, 100);
  lane.claim(2);
  lane.add(1, 100);
  lane.claim(2, 10min, 1);
  CHECK(lane.decide().empty());
  lane.tenants[0].use.terms.weight = 3;
  CHECK(lane.decide() == std::vector<Preemption>{{.runs = {2, 3}, .count = 1}});
}

TEST_CASE("a tenant that has had more lately gives way at equal numbers of slots") {
  Lane lane{{{}, {}}};
  lane.add(0, 100);
  lane.claim(2);
  lane.add(1, 100);
  lane.claim(2, 10min, 1);
  lane.tenants[0].use.history.slots = 1;
  CHECK(lane.decide() == std::vector<Preemption>{{.runs = {0, 1}, .count = 1}});
}

TEST_CASE("each of many tenants below their parts gets a slot of the one that is above") {
  constexpr std::size_t k_small = 40;
  Lane lane{std::vector<TenantTerms>(k_small + 2)};
  lane.add(0, 400);
  lane.claim(240, 10min, 0);
  lane.add(1, 400);
  lane.claim(60, 10min, 1);
  for (std::size_t i = 2; i < lane.tenants.size(); ++i) lane.add(i, 1);
  const std::vector<Preemption> wanted = lane.decide();
  REQUIRE(wanted.size() == 1);
  CHECK(wanted[0].count == k_small + 1);  // 130 slots are a large one's part
  CHECK(wanted[0].runs.size() == 240);
}

TEST_CASE("a lower plan gives way to a higher one, and keeps a tenth") {
  Lane lane{{{.plan = 0}, {.plan = 3}}};
  lane.add(0, 100);
  lane.claim(20);
  lane.add(1, 100);
  int moved = 0;
  for (; !lane.decide().empty(); ++moved) {
    REQUIRE(moved < 20);
    lane.end(lane.decide()[0].runs[0]);
    lane.claim(1);
  }
  CHECK(moved == 18);
}

TEST_CASE("no job gives way to a tenant that has as many running jobs as it may have") {
  Lane lane{{{}, {.max_running = 1}}};
  lane.add(0, 100);
  lane.claim(3);
  lane.add(1, 100);
  lane.claim(1, 10min, 1);
  CHECK(lane.decide().empty());
}

TEST_CASE("tenants that share one slot take turns when a slice has passed") {
  Lane lane = flooded(1);
  lane.add(1, 1);
  lane.runs[0].left = VideoMinutes(58min);
  lane.runs[0].since = k_now - 119s;
  CHECK(lane.decide().empty());
  lane.runs[0].since = k_now - 120s;
  CHECK(lane.decide() == std::vector<Preemption>{{.runs = {0}, .count = 1}});
  CHECK(lane.decide({.slice = -1s}).empty());
}

TEST_CASE("on one slot a higher plan's slices are longer by as much as its part is larger") {
  Lane lane{{{.plan = 1}, {.plan = 0}}};
  lane.waited = 2min;
  const std::size_t runs = GENERATE(0, 1);
  lane.add(runs, 1);
  lane.claim(1);
  lane.add(1 - runs, 1);
  const Duration slice = runs == 0 ? 18min : 2min;  // parts of nine tenths and of one
  lane.runs[0].left = k_hour - VideoMinutes(slice);
  lane.runs[0].since = k_now - slice + 1s;
  CHECK(lane.decide().empty());
  lane.runs[0].since = k_now - slice - 1s;
  CHECK(lane.decide() == std::vector<Preemption>{{.runs = {0}, .count = 1}});
}

TEST_CASE("a job's slice does not end where one of its own tenant would be claimed in its place") {
  Lane lane = flooded(1);
  lane.add(1, 1);
  lane.runs[0].left = VideoMinutes(58min);
  REQUIRE(lane.decide().size() == 1);
  lane.tenants[1].place.finished = 60 * 5;  // it has had more
  CHECK(lane.decide().empty());
}

TEST_CASE("a job does not give way to itself where a part is a whole number but for its rounding") {
  Lane lane{{{.weight = 0.5}, {.weight = 3}, {.weight = 3}, {.weight = 0.1}}};
  for (std::size_t i = 0; i < lane.tenants.size(); ++i) lane.add(i, 100);
  lane.claim(5, 10min, 1);
  lane.claim(5, 10min, 2);
  const std::vector<double> part = lane.parts(1);
  CAPTURE(part);
  CHECK_FALSE(below_part(5, part[1]));
  CHECK_FALSE(below_part(5, part[2]));
  CHECK(below_part(0, part[0]));
}

TEST_CASE("what gives way does not come back: all end near their share") {
  Random random(11, 1);
  for (int round = 0; round < 200; ++round) {
    const auto number = [&](int most) { return 1 + static_cast<int>(random.uniform() * most); };
    Lane lane{std::vector<TenantTerms>(static_cast<std::size_t>(number(6)))};
    for (SlotTenant& tenant : lane.tenants) {
      tenant.use.terms.weight = 0.1 * number(40);
      tenant.use.terms.plan = number(3) - 1;
    }
    const int slots = number(20);
    lane.add(0, slots + 100);
    lane.claim(slots);
    for (std::size_t i = 1; i < lane.tenants.size(); ++i) lane.add(i, number(30));
    int moved = 0;
    for (;;) {
      const std::vector<Preemption> wanted = lane.decide({.slice = -1s});
      if (wanted.empty()) break;
      REQUIRE(++moved <= slots);
      const std::size_t loser = lane.runs[wanted[0].runs[0]].tenant;
      lane.end(wanted[0].runs[0]);
      REQUIRE(lane.next_tenant() != loser);
      lane.claim(1);
    }
    const std::vector<double> part = lane.parts();
    for (std::size_t i = 0; i < part.size(); ++i)
      CHECK(static_cast<double>(lane.tenants[i].use.running) > part[i] - 2);
  }
}

TEST_CASE(
    "as many of a flood's jobs give way as slots are to be kept free, without anybody who waits") {
  Lane lane = flooded(4);
  lane.runs[1].since = k_now - 4s;
  lane.runs[2].left = VideoMinutes(19s);
  CHECK(lane.decide({}, {.lacks_slot = false}).empty());
  CHECK(lane.decide({}, {.lacks_slot = false, .room = 1}) ==
        std::vector<Preemption>{{.runs = {0, 3}, .count = 1}});
  CHECK(lane.decide({}, {.lacks_slot = false, .room = 3}) ==
        std::vector<Preemption>{{.runs = {0, 3}, .count = 2}});
  CHECK(lane.decide({}, {.lacks_slot = false, .room = 1, .flood = 1}).empty());  // it runs none
}

TEST_CASE("who gives way to a job that waits leaves no slot free, so that one more does") {
  Lane lane = flooded(4);
  lane.add(1, 1);
  CHECK(lane.decide({}, {.room = 1}) ==
        std::vector<Preemption>{{.runs = {0, 1, 2, 3}, .count = 2}});
}
