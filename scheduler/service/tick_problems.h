// Why a single tick did not do its work, so that a timer shows it. Pure.
//
//   a provider's list failed                                     failed
//   a provider created and woke nothing of what it was asked
//     for, or paused and destroyed nothing                       failed, or no_capacity if that is all it said
//   slots are missing, and nobody was asked for them because
//     creation is paused, or a source fails again and again      failed
//     a source said a moment ago that it has no capacity         no_capacity
//     GPUs that were not created or woken hold their place
//       for a while (failed_starts.h)                            as when that was tried
//
// A provider that did a part of what it was asked for is no problem: the next tick asks for the rest.
// Neither are slots that the operator's own limits forbid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "scheduler/provision/executor/provider_answers.h"
#include "scheduler/scaling/plan.h"
#include "scheduler/service/failed_starts.h"

namespace navtalk {

struct TickProblem {
  Code code = Code::failed;  // or no_capacity
  std::string message{};     // names the provider and the reason

  friend bool operator==(const TickProblem&, const TickProblem&) = default;
};

struct ProvidersSaid {
  std::map<Source, std::string> failed_lists{};  // why
  AnswersBySource answers{};
  std::string creation_paused{};  // why; empty: it is not
  std::vector<FailedStart> failed_starts{};
};

std::vector<TickProblem> tick_problems(const ProvidersSaid& said, const Plan& plan);
// The code of the worst one; nullopt without any.
std::optional<Code> worst(const std::vector<TickProblem>& problems);

}  // namespace navtalk
