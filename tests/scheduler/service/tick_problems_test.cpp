#include "scheduler/service/tick_problems.h"

#include <catch2/catch.hpp>

using namespace navtalk;

namespace {

ProviderAnswers answers(const std::vector<Outcome>& outcomes) {
  ProviderAnswers all;
  for (const Outcome& outcome : outcomes) all.count(Operation::create, outcome);
  return all;
}

std::string said(const std::vector<TickProblem>& problems) {
  std::string text;
  for (const TickProblem& problem : problems) text += problem.message + "\n";
  return text;
}

}  // namespace

TEST_CASE("a provider that did nothing it was asked for is a problem, one that did a part is not") {
  const Outcome done = Done{}, full = NoCapacity{"no A40"}, poor = Refused{"no balance", true},
                broken = Failure{"broken"}, unknown = UnknownOutcome{"no answer"};
  struct Row {
    std::vector<Outcome> outcomes;
    std::optional<Code> code;
    std::string message;
  };
  for (const Row& row : std::vector<Row>{
           {{}, {}, ""},
           {{done}, {}, ""},
           {{done, poor, full}, {}, ""},
           {{poor}, Code::failed, "cloud did nothing of what it was asked for: create: no bal"},
           {{broken}, Code::failed, "create: broken"},
           {{unknown}, Code::failed, "create: no answer"},
           {{full}, Code::no_capacity, "cloud has no capacity: create: no A40"},
           {{full, full}, Code::no_capacity, "create: no A40"},
           {{poor, full}, Code::failed, "create: no balance"},
           {{full, poor}, Code::failed, "create: no balance"}}) {
    const auto problems =
        tick_problems({.answers = {{Source::cloud, answers(row.outcomes)}}}, Plan{});
    INFO(said(problems));
    CHECK(worst(problems) == row.code);
    CHECK_THAT(said(problems), Catch::Contains(row.message));
  }
}

TEST_CASE("a pod that was destroyed does not hide that no create was done") {
  ProviderAnswers all = answers({Refused{"no balance", true}});
  all.count(Operation::destroy, Done{});
  const auto problems = tick_problems({.answers = {{Source::cloud, all}}}, Plan{});
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].message, Catch::Contains("create: no balance"));
  all.count(Operation::wake, Done{});
  CHECK(tick_problems({.answers = {{Source::cloud, all}}}, Plan{}).empty());
}

TEST_CASE("each provider is judged by itself") {
  const auto problems = tick_problems({.answers = {{Source::local, answers({Done{}})},
                                                   {Source::cloud, answers({Failure{"broken"}})}}},
                                      Plan{});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].code == Code::failed);
}

TEST_CASE("a list that failed is a problem, also when nothing was wanted") {
  const auto problems = tick_problems({.failed_lists = {{Source::cloud, "HTTP 401"}}}, Plan{});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].code == Code::failed);
  CHECK_THAT(problems[0].message, Catch::Contains("cloud") && Catch::Contains("HTTP 401"));
}

TEST_CASE(
    "slots that a provider's answers keep missing are a problem, an operator's limits are not") {
  const auto code = [](BlockedBy reason, int missing) {
    return worst(tick_problems({.creation_paused = "no balance"},
                               {.blocked_by = reason, .missing = missing}));
  };
  CHECK(code(BlockedBy::paused_creation, 1) == Code::failed);
  CHECK(code(BlockedBy::crash_loop, 2) == Code::failed);
  CHECK(code(BlockedBy::no_capacity, 1) == Code::no_capacity);
  CHECK(code(BlockedBy::no_capacity, 0) == std::nullopt);
  for (const BlockedBy reason :
       {BlockedBy::max_gpus, BlockedBy::max_usd, BlockedBy::nothing_creatable,
        BlockedBy::creates_per_tick, BlockedBy::failed_hold}) {
    CHECK(code(reason, 1) == std::nullopt);
  }
  const auto paused = tick_problems({.creation_paused = "no balance"},
                                    {.blocked_by = BlockedBy::paused_creation, .missing = 1});
  CHECK_THAT(said(paused), Catch::Contains("1 slot is missing: creation is paused") &&
                               Catch::Contains("no balance"));
}

TEST_CASE("slots that failed starts keep missing are a problem until somebody can be asked again") {
  const auto held = [](const Plan& plan, std::vector<FailedStart> starts,
                       AnswersBySource said = {}) {
    return tick_problems({.answers = std::move(said), .failed_starts = std::move(starts)}, plan);
  };
  const FailedStart broken{.source = Source::cloud, .slots = 1, .why = "HTTP 500"},
      full{.source = Source::cloud, .slots = 1, .code = Code::no_capacity, .why = "no A40"},
      unclear{.source = Source::cloud, .slots = 1, .starting = true, .why = "HTTP 500"};
  const Plan one_missing{.capacity = {.holding = 1}, .target = {.least = 1}};
  const Plan starting{.capacity = {.starting = 1}, .target = {.least = 1}};
  CHECK(held(one_missing, {}).empty());
  const auto problems = held(one_missing, {broken});
  CHECK(worst(problems) == Code::failed);
  CHECK_THAT(said(problems), Catch::Contains("1 slot is missing: cloud failed to start GPUs") &&
                                 Catch::Contains("HTTP 500"));
  CHECK(worst(held(one_missing, {full})) == Code::no_capacity);
  CHECK(worst(held(one_missing, {full, broken})) == Code::failed);
  // Its outcome is not known: it counts as supply, and yet nothing may come.
  CHECK(worst(held(starting, {unclear})) == Code::failed);
  CHECK(held(starting, {}).empty());
  // Its row is gone, and its source is in a backoff; or something else is in the way.
  const FailedStart gone{.source = Source::cloud, .why = "HTTP 500"};
  Plan backoff{.target = {.least = 2}, .blocked_by = BlockedBy::failed_hold, .missing = 2};
  CHECK_THAT(said(held(backoff, {gone})), Catch::Contains("2 slots are missing: cloud failed"));
  backoff.blocked_by = BlockedBy::max_gpus;
  CHECK(held(backoff, {gone}).empty());
  // Nothing is wanted any more; others are being made.
  CHECK(held(Plan{.capacity = {.holding = 1}}, {broken}).empty());
  CHECK(held(one_missing, {broken}, {{Source::cloud, answers({Done{}})}}).empty());
}

TEST_CASE("a GPU whose start failed is one that was never ready, or whose last start failed") {
  using Result = Attempt::Result;
  const TimePoint now{std::chrono::hours(1)};
  struct Row {
    State state;
    bool seen;
    std::vector<Result> attempts;
    std::optional<Code> code;
  };
  for (const Row& row :
       std::vector<Row>{{State::failed, false, {}, Code::failed},
                        {State::failed, false, {Result::failed}, Code::failed},
                        {State::failed, false, {Result::refused}, Code::failed},
                        {State::failed, false, {Result::no_capacity}, Code::no_capacity},
                        {State::failed, true, {}, {}},
                        {State::failed, true, {Result::ok}, {}},
                        {State::failed, true, {Result::ok, Result::timed_out}, Code::failed},
                        {State::idle, true, {Result::ok}, {}},
                        {State::starting, false, {}, {}}}) {
    Gpu gpu{.id = {"g"}, .source = Source::cloud, .state = row.state, .last_error = "broken"};
    if (row.seen) gpu.seen_at = now;
    std::vector<Attempt> attempts;
    for (const Result result : row.attempts)
      attempts.push_back({.gpu = gpu.id, .source = gpu.source, .result = result, .detail = "why"});
    auto starts = failed_starts({.now = now, .gpus = {gpu}}, attempts);
    std::erase_if(starts, [](const FailedStart& start) { return start.slots == 0; });
    INFO(name(row.state) << " " << row.seen << " " << row.attempts.size());
    REQUIRE(starts.size() == (row.code ? 1 : 0));
    if (!row.code) continue;
    CHECK(starts[0].code == *row.code);
    CHECK(starts[0].why == (attempts.empty() ? "broken" : "why"));
  }
  // The row is gone.
  const Attempt last{
      .gpu = {"g"}, .source = Source::cloud, .result = Result::failed, .detail = "why"};
  CHECK(failed_starts({.now = now}, {last}) ==
        std::vector<FailedStart>{{.source = Source::cloud, .why = "why"}});
  // Nobody knows whether the create had an effect.
  Gpu gpu{.id = {"g"}, .source = Source::cloud, .state = State::starting, .last_error = "HTTP 500"};
  gpu.intent = {.operation = Operation::create, .called = true};
  CHECK(failed_starts({.now = now, .gpus = {gpu}}, {}).size() == 1);
  gpu.intent.until = now + std::chrono::seconds(1);  // it is under way again
  CHECK(failed_starts({.now = now, .gpus = {gpu}}, {}).empty());
  gpu.intent.until = {};
  gpu.dedicated_to = {"acme"};
  CHECK(failed_starts({.now = now, .gpus = {gpu}}, {}).empty());
}
