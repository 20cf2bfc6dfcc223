// The state machine of a job, every pair of state and event; and the rule of retries.
#include "scheduler/jobs/job_state.h"

#include <catch2/catch.hpp>
#include <map>
#include <utility>

#include "scheduler/jobs/retry_rule.h"

using namespace navtalk;
using namespace std::chrono_literals;

TEST_CASE("a job changes its state in the documented ways, and in no other") {
  using enum JobState;
  const std::map<std::pair<JobState, JobEvent>, JobState> documented = {
      {{queued, JobEvent::release}, released},   {{released, JobEvent::claim}, running},
      {{running, JobEvent::segment}, running},   {{running, JobEvent::finish}, done},
      {{running, JobEvent::refuse}, failed},     {{running, JobEvent::retry}, released},
      {{running, JobEvent::lose}, released},     {{running, JobEvent::yield}, released},
      {{running, JobEvent::exhaust}, dead},      {{queued, JobEvent::cancel}, cancelled},
      {{released, JobEvent::cancel}, cancelled}, {{running, JobEvent::cancel}, cancelled},
      {{failed, JobEvent::resubmit}, queued},    {{dead, JobEvent::resubmit}, queued},
      {{cancelled, JobEvent::resubmit}, queued}, {{running, JobEvent::intend}, running},
      {{queued, JobEvent::promise}, queued},     {{released, JobEvent::promise}, released},
      {{running, JobEvent::promise}, running},
  };
  for (int s = 0; s < k_job_states; ++s) {
    for (int e = 0; e < k_job_events; ++e) {
      const auto state = static_cast<JobState>(s);
      const auto event = static_cast<JobEvent>(e);
      CAPTURE(name(state), name(event));
      const auto expected = documented.find({state, event});
      CHECK(next(state, event) ==
            (expected == documented.end() ? std::nullopt : std::optional(expected->second)));
    }
  }
}

TEST_CASE("a job's states are known by their names") {
  for (int s = 0; s < k_job_states; ++s) {
    const auto state = static_cast<JobState>(s);
    CHECK(parse_job_state(name(state)) == state);
    CHECK(is_final(state) == !next(state, JobEvent::cancel));
  }
  CHECK_FALSE(parse_job_state("idle"));
}

TEST_CASE("the delay before a retry doubles up to the longest one") {
  const JobRules rules{.most_attempts = 3, .first_delay = 5s, .longest_delay = 60s};
  const std::map<int, Duration> delays = {{1, 5s},  {2, 10s}, {3, 20s},
                                          {4, 40s}, {5, 60s}, {90, 60s}};
  for (const auto& [attempt, delay] : delays) {
    CAPTURE(attempt);
    CHECK(retry_delay(rules, attempt) == delay);
  }
  CHECK(may_retry(rules, 2));
  CHECK_FALSE(may_retry(rules, 3));
}
