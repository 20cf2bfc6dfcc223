#include "scheduler/service/tick_problems.h"

#include <fmt/format.h>

#include <algorithm>

namespace navtalk {
namespace {

std::optional<TickProblem> not_done(Source source, const AnswerCounts& answers) {
  if (answers.asked() == 0 || answers.done > 0) return std::nullopt;
  if (answers.failed == 0) {
    return TickProblem{Code::no_capacity,
                       fmt::format("{} has no capacity: {}", name(source), answers.last_failure)};
  }
  return TickProblem{Code::failed, fmt::format("{} did nothing of what it was asked for: {}",
                                               name(source), answers.last_failure)};
}

std::string missing_slots(int count, std::string_view reason) {
  return fmt::format("{} slot{} missing: {}", count, count == 1 ? " is" : "s are", reason);
}

std::optional<TickProblem> not_asked(const Plan& plan, const std::string& creation_paused) {
  const auto problem = [&](Code code, std::string_view reason) {
    return TickProblem{code, missing_slots(plan.missing, reason)};
  };
  if (plan.missing == 0) return std::nullopt;
  const std::string_view reason = name(plan.blocked_by);
  switch (plan.blocked_by) {
    case BlockedBy::paused_creation:
      return problem(Code::failed, fmt::format("{}: {}", reason, creation_paused));
    case BlockedBy::crash_loop:
      return problem(Code::failed, reason);
    case BlockedBy::no_capacity:
      return problem(Code::no_capacity, reason);
    default:
      return std::nullopt;
  }
}

// Of one source that has done nothing in this tick.
std::optional<TickProblem> held_back(Source source, const ProvidersSaid& said, const Plan& plan) {
  const auto answers = said.answers.find(source);
  if (answers != said.answers.end() && answers->second.growth.done > 0) return std::nullopt;
  int missing = plan.target.least - plan.capacity.supply(), slots = 0;
  const FailedStart* worst = nullptr;
  for (const FailedStart& start : said.failed_starts) {
    if (start.starting) missing += start.slots;
    const bool in_backoff = start.slots == 0 && plan.blocked_by == BlockedBy::failed_hold;
    if (start.source != source || (start.slots == 0 && !in_backoff)) continue;
    slots += in_backoff ? plan.missing : start.slots;
    if (worst == nullptr || start.code == Code::failed) worst = &start;
  }
  if (worst == nullptr || missing <= 0) return std::nullopt;
  return TickProblem{worst->code,
                     missing_slots(std::min(missing, slots),
                                   fmt::format("{} failed to start GPUs a moment ago, and is asked "
                                               "again later: {}",
                                               name(source), worst->why))};
}

}  // namespace

std::vector<TickProblem> tick_problems(const ProvidersSaid& said, const Plan& plan) {
  std::vector<TickProblem> problems;
  for (const auto& [source, why] : said.failed_lists) {
    problems.push_back(
        {Code::failed,
         fmt::format("{} did not list its GPUs, and what its list lacks was not compared: {}",
                     name(source), why)});
  }
  for (const auto& [source, answers] : said.answers) {
    for (const AnswerCounts& counts : {answers.growth, answers.release}) {
      if (auto problem = not_done(source, counts)) problems.push_back(std::move(*problem));
    }
  }
  if (!problems.empty()) return problems;
  if (auto problem = not_asked(plan, said.creation_paused)) problems.push_back(std::move(*problem));
  for (const Source source : {Source::local, Source::cloud}) {
    if (!problems.empty()) break;
    if (auto problem = held_back(source, said, plan)) problems.push_back(std::move(*problem));
  }
  return problems;
}

std::optional<Code> worst(const std::vector<TickProblem>& problems) {
  if (problems.empty()) return std::nullopt;
  const bool failed = std::any_of(problems.begin(), problems.end(), [](const TickProblem& problem) {
    return problem.code == Code::failed;
  });
  return failed ? Code::failed : Code::no_capacity;
}

}  // namespace navtalk
