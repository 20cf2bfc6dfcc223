#include "scheduler/cost/spend.h"

#include <map>
#include <nlohmann/json.hpp>

#include "scheduler/cost/budget.h"
#include "tests/scheduler/small_pool.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// A pod that has cost money for that long.
Gpu pod_paid_for(SmallPool& pool, const std::string& id, double usd, Duration length) {
  Gpu gpu = new_gpu(pool.identity, Source::cloud);
  gpu.state = State::idle;
  gpu.provider_id = id;
  gpu.usd_per_hour = usd;
  gpu.url = "http://127.0.0.1:9/" + id;
  return pool.store->add({.gpu = gpu, .paid_since = pool.store->now() - length}, {"test", "put"})
      .value();
}

std::vector<std::string> budget_events(SmallPool& pool) {
  std::vector<std::string> found;
  for (const PoolEvent& event : pool.store->events({})) {
    if (event.who == "budget") found.push_back(event.why);
  }
  return found;
}

}  // namespace

TEST_CASE("the days of a pod add up to what the ledger has, and empty days are left out") {
  SmallPool pool;
  CHECK(read_spend(*pool.store, 7).days.empty());
  pod_paid_for(pool, "p", 2.4, 50h);
  const Spend spend = read_spend(*pool.store, 7);
  CHECK(spend.usd == Approx(120).epsilon(1e-3));
  CHECK(spend.gpu_hours == Approx(50).epsilon(1e-3));
  REQUIRE(spend.days.size() >= 3);
  double usd = 0;
  for (std::size_t i = 0; i < spend.days.size(); ++i) {
    usd += spend.days[i].usd;
    CHECK(spend.days[i].origin == Origin::runpod);
    CHECK(spend.days[i].gpu_hours <= 24.0001);
    if (i > 0) CHECK(spend.days[i].day == spend.days[i - 1].day + std::chrono::days(1));
  }
  CHECK(usd == Approx(spend.usd));
  // One day has at most its own hours.
  CHECK(read_spend(*pool.store, 1).gpu_hours <= 24.0001);
}

TEST_CASE("two clouds are told apart, in what they cost and in what sessions used of them") {
  SmallPool pool;
  pod_paid_for(pool, "p", 2, 90min);
  pod_paid_for(pool, "kubernetes/gpus/a/u", 6, 30min);
  REQUIRE(pool.claim("u1", "acme"));
  REQUIRE(pool.claim("u2", "acme"));
  std::map<Origin, double> hours, usd, used;
  for (const DaySpend& one : read_spend(*pool.store, 7).days) {
    hours[one.origin] += one.gpu_hours;
    usd[one.origin] += one.usd;
    used[one.origin] += one.used_usd;
  }
  CHECK(hours[Origin::runpod] == Approx(1.5).epsilon(1e-3));
  CHECK(usd[Origin::runpod] == Approx(3).epsilon(1e-3));
  CHECK(hours[Origin::kubernetes] == Approx(0.5).epsilon(1e-3));
  CHECK(usd[Origin::kubernetes] == Approx(3).epsilon(1e-3));
  CHECK(used.size() == 2);
  CHECK(used.contains(Origin::kubernetes));
}

TEST_CASE("open sessions are part of what was used, and tenants come dearest first") {
  SmallPool pool;
  pod_paid_for(pool, "p", 3.6e6, 1s);
  REQUIRE(pool.claim("u1", "acme"));
  Gpu local = new_gpu(pool.identity, Source::local);
  local.state = State::idle;
  pool.add(local);
  const auto ended = pool.claim("u2", "thrifty");
  REQUIRE(ended);
  pool.store->release(ended->id, ended->epoch);
  const Spend spend = read_spend(*pool.store, 2);
  REQUIRE(spend.tenants.size() == 2);
  CHECK(spend.tenants[0].tenant.text == "acme");
  CHECK(spend.tenants[0].usd > 0);
  CHECK(spend.tenants[0].sessions == 0);
  CHECK(spend.tenants[1].usd == 0);
  CHECK(spend.tenants[1].sessions == 1);
  CHECK(spend.used_usd == Approx(spend.tenants[0].usd));
  CHECK(spend.used_usd <= spend.usd);
  CHECK(as_json(spend)["tenants"][1]["tenant"] == "thrifty");
}

TEST_CASE("each threshold of a budget is warned of once, whoever looks") {
  SmallPool pool;
  // So that what was paid for within the last hour is in the period at any time of the day.
  const std::chrono::sys_days yesterday = today() - std::chrono::days(1);
  const auto look = [&](double per_day, double per_month) {
    watch_budgets(*pool.store, {.usd_per_day = per_day, .usd_per_month = per_month}, yesterday);
    return budget_events(pool).size();
  };
  CHECK(look(0, 0) == 0);
  CHECK(look(1, 1) == 0);  // nothing is spent
  pod_paid_for(pool, "p", 10, 1h);
  const BudgetState day = budget_states(*pool.store, {.usd_per_day = 1}, yesterday).at(0);
  CHECK(day.name == day_text(yesterday));
  CHECK(day.spent_usd == Approx(10).epsilon(0.05));
  CHECK(look(21, 0) == 0);
  CHECK(look(18, 0) == 1);  // 50 %
  CHECK(look(18, 0) == 1);  // the same
  CHECK(look(1, 0) == 2);   // 100 %, at once
  CHECK(look(1, 0) == 2);
  CHECK(look(1, 1) == 3);  // the month has a threshold of its own
  CHECK(budget_events(pool).back().find("100 %") != std::string::npos);
}

TEST_CASE("a budget that is raised within its period has thresholds of its own") {
  SmallPool pool;
  const std::chrono::sys_days yesterday = today() - std::chrono::days(1);
  const auto look = [&](double per_month) {
    watch_budgets(*pool.store, {.usd_per_month = per_month}, yesterday);
    return budget_events(pool).size();
  };
  pod_paid_for(pool, "p", 10, 1h);
  CHECK(look(9) == 1);   // 100 %
  CHECK(look(18) == 2);  // 50 %
  CHECK(budget_events(pool).back().find("of the 18.00 USD") != std::string::npos);
  CHECK(look(18) == 2);
  CHECK(look(9) == 2);  // as a process says that was not told of the new one
  pod_paid_for(pool, "q", 6, 1h);
  CHECK(look(18) == 3);  // 80 %
  CHECK(look(100) == 3);
}

TEST_CASE("a threshold is reached by what is spent, not by what is close") {
  const auto reached = [](double spent) {
    return reached_percent({.period = "day", .name = "d", .budget_usd = 10, .spent_usd = spent});
  };
  CHECK(reached(4.99) == 0);
  CHECK(reached(5) == 50);
  CHECK(reached(7.99) == 50);
  CHECK(reached(8) == 80);
  CHECK(reached(10) == 100);
  CHECK(reached(1000) == 100);
}
