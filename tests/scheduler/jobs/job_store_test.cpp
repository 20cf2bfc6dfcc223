// The jobs' contract: submission, lists, release, cancellation; on both databases.
#include "scheduler/jobs/job_store.h"

#include "tests/core/expect_error.h"
#include "tests/scheduler/jobs/job_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;
using test::expect_error;

namespace {

std::vector<std::string> avatars(const JobPage& page) {
  std::vector<std::string> names;
  for (const Job& job : page.jobs) names.push_back(job.spec.avatar);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

STORE_TEST("a job is kept as it was submitted, with an event") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  const TimePoint now = jobs.now();
  NewJob wanted{.spec = {.tenant = {"acme"},
                         .avatar = "ada",
                         .audio = "https://x/a.wav",
                         .text = "Grüße, \"Ada\"\n",
                         .voice = "de",
                         .output = "o.mp4",
                         .options = R"({"fps":"25"})",
                         .priority = -2},
                .work = VideoMinutes(90s),
                .estimated = true,
                .key = "k"};
  const Submission made = jobs.submit(wanted, k_user, now);
  CHECK_FALSE(made.existed);
  CHECK(made.job.spec == wanted.spec);
  CHECK(made.job.work.count() == 1.5);
  CHECK(made.job.estimated);
  CHECK(made.job.state == JobState::queued);
  CHECK(made.job.submitted_at == now);
  JobStore others = open_jobs(place);
  CHECK(others.find(made.job.id) == made.job);
  CHECK_FALSE(others.find({"nobody"}));
  const auto history = others.history(made.job.id);
  REQUIRE(history.size() == 1);
  CHECK(history[0].event == JobEvent::submit);
  CHECK(history[0].to == JobState::queued);
  CHECK(history[0].who == "user");
}

STORE_TEST("a submission that is repeated under its key makes no second job") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  const Job first = jobs.submit(new_job("ada", 0, "k"), k_user, jobs.now()).job;
  const Submission again = jobs.submit(new_job("ada", 0, "k"), k_user, jobs.now() + 1h);
  CHECK(again.existed);
  CHECK(again.job == first);
  CHECK(jobs.history(first.id).size() == 1);
  CHECK(jobs.find({"acme"}, "k") == first);
  CHECK_FALSE(jobs.find({"other"}, "k"));
  CHECK_FALSE(jobs.find({"acme"}, ""));
  NewJob of_other = new_job("ada", 0, "k");
  of_other.spec.tenant = {"other"};
  CHECK_FALSE(jobs.submit(of_other, k_user, jobs.now()).existed);
  CHECK_FALSE(jobs.submit(new_job("ada"), k_user, jobs.now()).existed);  // without a key
  CHECK_FALSE(jobs.submit(new_job("ada"), k_user, jobs.now()).existed);
}

STORE_TEST("the same request is the same job, whatever became of its text before it was kept") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  NewJob asked = new_job("ada", 0, "k");
  asked.request = "digest";
  CHECK_FALSE(jobs.asked_before(asked));
  NewJob judged = asked;
  judged.spec.text = "what moderation made of it";
  const Job made = jobs.submit(judged, k_user, jobs.now()).job;
  CHECK(made.request == "digest");
  CHECK(jobs.asked_before(asked) == made);
  CHECK(jobs.submit(asked, k_user, jobs.now()).existed);
  NewJob other = judged;
  other.request = "another digest";
  expect_error(Code::invalid, {"used for another job"}, [&] { jobs.asked_before(other); });
  expect_error(Code::invalid, {"used for another job"},
               [&] { jobs.submit(other, k_user, jobs.now()); });
  // A row of an earlier version has no digest: its job says it.
  NewJob old = new_job("ada", 0, "old");
  const Job before = jobs.submit(old, k_user, jobs.now()).job;
  old.request = "digest";
  CHECK_FALSE(jobs.asked_before(old));
  CHECK(jobs.submit(old, k_user, jobs.now()).job == before);
}

STORE_TEST("a key that was used for something else refuses the whole submission") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  jobs.submit(new_job("ada", 0, "k"), k_user, jobs.now());
  const std::vector<NewJob> two = {new_job("theo", 0, "fresh"), new_job("theo", 0, "k")};
  expect_error(Code::invalid, {"used for another job"},
               [&] { jobs.submit(std::span(two), k_user, jobs.now()); });
  CHECK(avatars(jobs.list({.tenant = {"acme"}})) == Names{"ada"});
}

STORE_TEST("a job needs a valid tenant") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  for (const char* const tenant : {"", "a b", "../x"}) {
    NewJob job = new_job("ada");
    job.spec.tenant = {tenant};
    expect_error(Code::invalid, {"not a valid tenant name"},
                 [&] { jobs.submit(job, k_user, jobs.now()); });
  }
}

STORE_TEST("lists go page by page through one tenant's jobs, each once") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  std::vector<NewJob> all;
  for (const char* const avatar : {"a", "b", "c", "d", "e"}) all.push_back(new_job(avatar));
  jobs.submit(std::span(all), k_user, jobs.now());
  NewJob of_other = new_job("x");
  of_other.spec.tenant = {"other"};
  jobs.submit(of_other, k_user, jobs.now());
  const JobPage first = jobs.list({.tenant = {"acme"}, .limit = 2});
  CHECK(avatars(first) == Names{"a", "b"});
  REQUIRE(first.next);
  const JobPage second = jobs.list({.tenant = {"acme"}, .after = *first.next, .limit = 3});
  CHECK(avatars(second) == Names{"c", "d", "e"});
  CHECK_FALSE(second.next);
  jobs.cancel(second.jobs[1].id, k_user, jobs.now());
  CHECK(avatars(jobs.list({.tenant = {"acme"}, .state = JobState::cancelled})) == Names{"d"});
  const JobPage queued = jobs.list({.tenant = {"acme"}, .state = JobState::queued, .limit = 3});
  CHECK(avatars(queued) == Names{"a", "b", "c"});
  REQUIRE(queued.next);
  CHECK(avatars(jobs.list(
            {.tenant = {"acme"}, .state = JobState::queued, .after = *queued.next})) == Names{"e"});
}

STORE_TEST("a list may leave the texts of its jobs out") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  const Job made = jobs.submit(new_job("ada"), k_user, jobs.now()).job;
  const JobQuery query{.tenant = {"acme"}, .texts = JobTexts::left_out};
  Job without = made;
  without.spec.text.clear();
  CHECK(jobs.list({.tenant = {"acme"}}).jobs == std::vector{made});
  CHECK(jobs.list(query).jobs == std::vector{without});
  JobQuery queued = query;
  queued.state = JobState::queued;
  CHECK(jobs.list(queued).jobs == std::vector{without});
}

STORE_TEST("ids that no job has are told from those of jobs") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  const JobId known = jobs.submit(new_job("ada"), k_user, jobs.now()).job.id;
  const std::vector<JobId> ids = {{"a"}, known, {"b"}};
  CHECK(jobs.unknown_of(ids) == std::vector<JobId>{{"a"}, {"b"}});
}

STORE_TEST("totals count work in video-minutes, for each state of one tenant") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  const Job first = add_job(jobs, new_job("a"));
  jobs.submit(new_job("b"), k_user, jobs.now());
  jobs.submit(new_job("c"), k_user, jobs.now());
  const auto totals = jobs.totals({"acme"});
  CHECK(totals.size() == 2);
  CHECK(totals.at(JobState::released) == JobTotal{1, VideoMinutes(2min)});
  CHECK(totals.at(JobState::queued) == JobTotal{2, VideoMinutes(4min)});
  CHECK(jobs.totals({"other"}).empty());
}

STORE_TEST(
    "release stops when the budget of video-minutes is spent, and lets the last job exceed it") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  std::vector<NewJob> all;
  for (const int minutes : {3, 2, 4, 1}) {
    all.push_back(new_job("m" + std::to_string(minutes)));
    all.back().work = VideoMinutes(std::chrono::minutes(minutes));
  }
  jobs.submit(std::span(all), k_user, jobs.now());
  const TenantId acme{"acme"};
  const auto released = [&](Duration budget, std::size_t most) {
    return jobs.release(acme, VideoMinutes(budget), most, k_user, jobs.now()).work.count();
  };
  CHECK(released(0min, 100) == 0);
  CHECK(released(-5min, 100) == 0);  // debt
  CHECK(released(1min, 100) == 3);   // the first, which is longer than the budget
  CHECK(released(2min, 100) == 2);
  CHECK(avatars(jobs.list({.tenant = acme, .state = JobState::released})) == Names{"m3", "m2"});
  CHECK(released(10min, 1) == 4);
  CHECK(jobs.release({"other"}, k_any_work, 100, k_user, jobs.now()) == JobTotal{});
  CHECK(released(10min, 100) == 1);
}

STORE_TEST("a job is cancelled until it is over, and can be asked for again") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  const Job job = add_job(jobs, new_job("ada"));
  const auto cancelled = jobs.cancel(job.id, k_user, jobs.now());
  REQUIRE(cancelled);
  CHECK(cancelled->state == JobState::cancelled);
  CHECK(jobs.cancel(job.id, k_user, jobs.now() + 1h) == cancelled);
  CHECK_FALSE(jobs.claim("w", by_priority, jobs.now()));
  CHECK_FALSE(jobs.cancel({"nobody"}, k_user, jobs.now()));
  const auto again = jobs.resubmit(job.id, k_user, jobs.now());
  REQUIRE(again);
  CHECK(again->state == JobState::queued);
  CHECK(jobs.resubmit(job.id, k_user, jobs.now() + 1h) == again);
  CHECK_FALSE(jobs.resubmit({"nobody"}, k_user, jobs.now()));
}

TEST_CASE("why the last try failed is shown of jobs that wait or have failed") {
  using enum JobState;
  for (const JobState state : {queued, released, failed, dead})
    CHECK(shown_error({.state = state, .error = "why"}) == "why");
  for (const JobState state : {running, done, cancelled})
    CHECK(shown_error({.state = state, .error = "why"}).empty());
}
