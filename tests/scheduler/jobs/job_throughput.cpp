// How fast the store of jobs is with 100,000 of them: a measurement, which no test run includes.
//   test_scheduler "[jobs-throughput]"
// And of claims alone, also in the order that `serve` has:
//   test_scheduler "[claims-throughput]" [-c "by_shares, 300 tenants"]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "scheduler/jobs/job_store.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "tests/scheduler/jobs/job_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int k_queued = 100'000, k_batch = 1000, k_samples = 1000, k_claims = 4000;

double since_ms(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Of `samples` calls: median and p99 in ms.
template <class F>
void time_each(const char* what, int samples, F&& call) {
  std::vector<double> times_ms;
  for (int i = 0; i < samples; ++i) {
    const auto start = Clock::now();
    call(i);
    times_ms.push_back(since_ms(start));
  }
  std::ranges::sort(times_ms);
  const auto at = [&](double part) {
    return times_ms[static_cast<std::size_t>(part * static_cast<double>(times_ms.size() - 1))];
  };
  std::printf("  %-28s median %8.3f ms   p99 %8.3f ms   max %8.3f ms\n", what, at(0.5), at(0.99),
              at(1));
}

template <class F>
void time_all(const char* what, int count, F&& work) {
  const auto start = Clock::now();
  work();
  std::printf("  %-28s %.0f a second\n", what, 1000 * count / since_ms(start));
}

// Each on a connection of its own, as workers of several hosts have it; and `finish` or not.
void claim_all(const auto& place, int threads, int claims, bool finish,
               const ClaimOrder& order = by_priority) {
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&place, &order, i, claims, threads, finish] {
      JobStore jobs = open_jobs(place);
      for (int n = 0; n < claims / threads; ++n) {
        const auto job = jobs.claim("w" + std::to_string(i), order, std::nullopt);
        if (job && finish) jobs.finish({job->id, job->epoch}, "{}", jobs.now());
      }
    });
  }
}

}  // namespace

TEMPLATE_TEST_CASE("the store's speed with 100,000 jobs", "[.][jobs-throughput]", SqlitePlace,
                   PostgresPlace) {
  if (!TestType::there()) return;
  const TestType place;
  JobStore jobs = open_jobs(place);
  std::printf("%s\n", place.url().substr(0, place.url().find(':')).c_str());
  time_all("submit, 1000 at once", k_queued, [&] {
    for (int i = 0; i < k_queued; i += k_batch) {
      std::vector<NewJob> batch;
      for (int n = 0; n < k_batch; ++n)
        batch.push_back(new_job("ada", n % 3, "k" + std::to_string(i + n)));
      jobs.submit(std::span(batch), k_user, jobs.now());
    }
  });
  time_each("submit", k_samples, [&](int i) {
    jobs.submit(new_job("ada", i % 3, "s" + std::to_string(i)), k_user, jobs.now());
  });
  time_each("list, 100 of a state", k_samples, [&](int i) {
    jobs.list({.tenant = {"acme"}, .state = JobState::queued, .after = i * 97, .limit = 100});
  });
  time_each("list, 100 of all", k_samples,
            [&](int i) { jobs.list({.tenant = {"acme"}, .after = i * 97, .limit = 100}); });
  time_each("totals", 20, [&](int) { jobs.totals({"acme"}); });
  time_all("release, 256 at once", k_queued, [&] {
    while (jobs.release({"acme"}, k_any_work, 256, k_user, jobs.now()).jobs > 0) {
    }
  });
  time_each("claim", k_samples, [&](int) { jobs.claim("w", by_priority, std::nullopt); });
  for (const int threads : {1, 4, 16}) {
    const std::string with = " by " + std::to_string(threads);
    time_all(("claim" + with).c_str(), k_claims,
             [&] { claim_all(place, threads, k_claims, false); });
    time_all(("claim and finish" + with).c_str(), k_claims,
             [&] { claim_all(place, threads, k_claims, true); });
  }
  CHECK(jobs.totals({"acme"}).at(JobState::done).jobs > 0);
}

namespace {

// Of so many tenants, by turns. As many are released as are claimed, a few at once as the batch lane's turn does.
void fill(JobStore& jobs, int tenants) {
  for (int i = 0; i < k_queued; i += k_batch) {
    std::vector<NewJob> batch;
    for (int n = 0; n < k_batch; ++n) {
      batch.push_back(new_job("ada", n % 3));
      batch.back().spec.tenant = {"tenant-" + std::to_string((i + n) % tenants)};
    }
    jobs.submit(std::span(batch), k_user, jobs.now());
  }
  for (std::int64_t released = 0; released < k_samples + 7 * k_claims;) {
    for (int i = 0; i < tenants; ++i) {
      const TenantId tenant{"tenant-" + std::to_string(i)};
      released += jobs.release(tenant, k_any_work, 16, k_user, jobs.now()).jobs;
    }
  }
}

void time_claims(const auto& place, JobStore& jobs, const ClaimOrder& order) {
  time_each("claim", k_samples, [&](int) { REQUIRE(jobs.claim("w", order, std::nullopt)); });
  for (const int threads : {1, 4, 16}) {
    const std::string with = " by " + std::to_string(threads);
    time_all(("claim" + with).c_str(), k_claims,
             [&] { claim_all(place, threads, k_claims, false, order); });
    time_all(("claim and finish" + with).c_str(), k_claims,
             [&] { claim_all(place, threads, k_claims, true, order); });
  }
}

}  // namespace

TEMPLATE_TEST_CASE("the speed of claims with 100,000 jobs", "[.][claims-throughput]", SqlitePlace,
                   PostgresPlace) {
  if (!TestType::there()) return;
  const std::pair<const char*, ClaimOrder> orders[] = {{"by_priority", by_priority},
                                                       {"by_shares", by_shares()}};
  for (const auto& [name, order] : orders) {
    for (const int tenants : {1, 20, 300}) {
      DYNAMIC_SECTION(name << ", " << tenants << " tenants") {
        const TestType place;
        JobStore jobs = open_jobs(place);
        fill(jobs, tenants);
        std::printf("%s, %s, %d tenants\n", place.url().substr(0, place.url().find(':')).c_str(),
                    name, tenants);
        time_claims(place, jobs, order);
      }
    }
  }
}
