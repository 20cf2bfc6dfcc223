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
           {{poor}, Code::failed, "runpod did nothing of what it was asked for: create: no bal"},
           {{broken}, Code::failed, "create: broken"},
           {{unknown}, Code::failed, "create: no answer"},
           {{full}, Code::no_capacity, "runpod has no capacity: create: no A40"},
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
  CHECK_THAT(problems[0].message, Catch::Contains("runpod") && Catch::Contains("HTTP 401"));
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
