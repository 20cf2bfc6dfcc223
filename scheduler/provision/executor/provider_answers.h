// What a provider answered to the calls of one process that were to change something. A value.
#pragma once

#include <map>
#include <string>

#include "scheduler/provision/provider.h"

namespace navtalk {

struct AnswerCounts {
  int done = 0, no_capacity = 0, failed = 0;
  std::string last_failure{};  // "create: ..."; without one, the last lack of capacity

  int asked() const { return done + no_capacity + failed; }
};

struct ProviderAnswers {
  AnswerCounts growth{};   // to create and wake
  AnswerCounts release{};  // to pause and destroy

  void count(Operation operation, const Outcome& outcome);
};
using AnswersBySource = std::map<Source, ProviderAnswers>;

}  // namespace navtalk
