#include "scheduler/provision/executor/provider_answers.h"

#include "core/base/overload.h"

namespace navtalk {

void ProviderAnswers::count(Operation operation, const Outcome& outcome) {
  const bool grows = operation == Operation::create || operation == Operation::wake;
  AnswerCounts& counts = grows ? growth : release;
  const auto reason = [&](const std::string& message) {
    return std::string(name(operation)) + ": " + message;
  };
  const auto not_done = [&](const auto& answer) {
    ++counts.failed;
    counts.last_failure = reason(answer.message);
  };
  std::visit(Overload{[&](const Done&) { ++counts.done; },
                      [&](const NoCapacity& none) {
                        ++counts.no_capacity;
                        if (counts.failed == 0) counts.last_failure = reason(none.message);
                      },
                      not_done},
             outcome);
}

}  // namespace navtalk
