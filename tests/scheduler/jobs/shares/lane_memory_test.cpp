// What a connection remembers of the tenants is what is in the store, whoever has changed it.
#include <random>
#include <set>

#include "scheduler/jobs/shares/first_jobs.h"
#include "scheduler/jobs/shares/share_tables.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "tests/scheduler/jobs/job_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

struct SeenTenant {
  std::string tenant;
  SlotUse use;
  FairPlace place;
  std::optional<Job> first;
};

struct LaneView {
  std::vector<SeenTenant> tenants;
  VirtualTimes times;
  FloodHeadroom headroom;
};

LaneView seen_by(StoreBackend& backend) {
  LaneView lane;
  backend.read([&](Transaction& t) {
    const LaneUse use = lane_use(t, {});
    lane = {.times = use.times, .headroom = use.headroom};
    for (std::size_t i = 0; i < use.tenants.size(); ++i)
      lane.tenants.push_back(
          {use.tenants[i].text, use.uses[i], use.places[i], first_job_of(t, use, i)});
  });
  return lane;
}

void check_same_lane(const LaneView& one, const LaneView& other) {
  CHECK(one.times == other.times);
  CHECK(one.headroom == other.headroom);
  REQUIRE(one.tenants.size() == other.tenants.size());
  for (std::size_t i = 0; i < one.tenants.size(); ++i) {
    const SeenTenant &a = one.tenants[i], &b = other.tenants[i];
    CAPTURE(a.tenant);
    CHECK(a.tenant == b.tenant);
    CHECK(a.use.terms == b.use.terms);
    CHECK(a.use.running == b.use.running);
    CHECK(a.use.waiting == b.use.waiting);
    CHECK(a.use.history == b.use.history);
    CHECK(a.place == b.place);
    CHECK(a.first == b.first);
  }
}

NewJob lane_job(const std::string& tenant, int priority = 0) {
  NewJob job = new_job("ada", priority);
  job.spec.tenant = {tenant};
  return job;
}

// One change after the other, by one connection.
class RandomChanges {
 public:
  explicit RandomChanges(const auto& place, unsigned seed)
      : backend_(StoreBackend::open(place.url())), jobs_(backend_), random_(seed) {}

  void one() {
    switch (below(10)) {
      case 0:
        jobs_.submit(lane_job(tenant(), below(3)), k_user, jobs_.now());
        break;
      case 1:
        jobs_.release({tenant()}, k_any_work, 2, k_user, jobs_.now());
        break;
      case 2:
        take(by_shares());
        break;
      case 3:
        take(by_priority);
        break;
      case 4:
        with_run([&](const JobLease& run) { jobs_.finish(run, "{}", jobs_.now()); });
        break;
      case 5:
        with_run([&](const JobLease& run) { jobs_.yield_for_later(run, "", jobs_.now(), 1h); });
        break;
      case 6:
        with_run([&](const JobLease& run) { jobs_.yield(run, "", jobs_.now()); });
        break;
      case 7:
        if (runs_.empty()) break;
        jobs_.measure(runs_.back(), VideoMinutes(std::chrono::seconds(1 + below(200))));
        break;
      case 8:
        turn();
        break;
      default:
        later();
        break;
    }
  }

 private:
  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
  std::string tenant() { return std::string(1, static_cast<char>('a' + below(5))); }

  void take(const ClaimOrder& order) {
    if (const auto job = jobs_.claim("w", order, std::nullopt)) runs_.push_back(lease_of(*job));
  }
  template <class F>
  void with_run(F&& end) {
    if (runs_.empty()) return;
    end(runs_.back());
    runs_.pop_back();
  }
  void turn() {
    backend_->write(Durability::durable, [&](Transaction& t) {
      const TenantTerms terms{.plan = below(2), .weight = 1.0 + below(3), .max_running = below(3)};
      if (below(2) == 0) return write_terms(t, {tenant()}, terms);
      write_line(t, {.tenant = {tenant()},
                     .terms = terms,
                     .history = {.slots = static_cast<double>(below(9))}});
      LaneRow lane = read_lane(t);
      lane.headroom = {.tenant = {tenant()}, .most_running = below(9), .until = t.now};
      write_lane(t, lane);
    });
  }
  // The time of some delayed jobs has come.
  void later() {
    const auto job = jobs_.claim("w", by_shares(), jobs_.now() + 2h);
    if (job) runs_.push_back(lease_of(*job));
  }

  std::shared_ptr<StoreBackend> backend_;
  JobStore jobs_;
  std::vector<JobLease> runs_{};
  std::mt19937 random_;
};

}  // namespace

STORE_TEST("what a connection remembers is what another one reads that remembers nothing") {
  const TestType place;
  RandomChanges first(place, 1), second(place, 2);
  const auto remembers = StoreBackend::open(place.url());
  for (int i = 0; i < 300; ++i) {
    (i % 2 == 0 ? first : second).one();
    if (i % 5 != 0) continue;
    CAPTURE(i);
    check_same_lane(seen_by(*remembers), seen_by(*StoreBackend::open(place.url())));
  }
}

STORE_TEST("claims in the order of shares follow what other connections change") {
  const TestType place;
  JobStore one = open_jobs(place), other = open_jobs(place);
  std::set<JobId> claimed;
  for (int i = 0; i < 12; ++i) {
    const std::string tenant = i % 3 == 0 ? "a" : "b";
    other.submit(lane_job(tenant, i % 2), k_user, other.now());
    other.release({tenant}, k_any_work, 1, k_user, other.now());
    const auto job = (i % 2 == 0 ? one : other).claim("w", by_shares(), std::nullopt);
    REQUIRE(job);
    CHECK(claimed.insert(job->id).second);
  }
  CHECK_FALSE(one.claim("w", by_shares(), std::nullopt));
  CHECK_FALSE(other.claim("w", by_shares(), std::nullopt));
}

STORE_TEST("a job with a long text is claimed with all of it") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  for (const std::size_t length : {2000U, 2001U, 90000U}) {
    NewJob job = lane_job("a");
    job.spec.text = std::string(length, 'x');
    add_job(jobs, job);
    CHECK(jobs.claim("w", by_shares(), std::nullopt).value().spec.text == job.spec.text);
  }
}

TEST_CASE("a connection that has missed more changes than are kept reads all again") {
  if (!PostgresPlace::there()) return;
  const PostgresPlace place;
  JobStore jobs = open_jobs(place);
  const auto late = StoreBackend::open(place.url());
  add_job(jobs, lane_job("a"));
  CHECK(seen_by(*late).tenants.size() == 1);
  add_job(jobs, lane_job("b"));
  StoreBackend::open(place.url())->write(Durability::relaxed, [](Transaction& t) {
    t.db.run("DELETE FROM lane_changes", {});
    t.db.run("INSERT INTO lane_changes (tenant) SELECT 'c' FROM generate_series(1, 9000)", {});
  });
  check_same_lane(seen_by(*late), seen_by(*StoreBackend::open(place.url())));
  CHECK(seen_by(*late).tenants.size() == 2);
}

TEST_CASE("of the changes that claims look for only the newest thousands are kept") {
  if (!PostgresPlace::there()) return;
  const PostgresPlace place;
  const auto backend = StoreBackend::open(place.url());
  std::int64_t kept = 0;
  backend->write(Durability::relaxed, [&](Transaction& t) {
    for (int i = 0; i < 11; ++i) {
      t.db.run("INSERT INTO lane_changes (tenant) SELECT 'c' FROM generate_series(1, 1023)", {});
      write_terms(t, {"a"}, {});
    }
    const auto rows = t.db.query("SELECT COUNT(*) FROM lane_changes", {});
    kept = rows->next() ? rows->integer(0) : 0;
  });
  CHECK(kept == 8192);
}
