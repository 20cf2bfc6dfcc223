// One step of the promises of the batch lane, within the caller's transaction. Stateless.
#pragma once

#include <cstdint>

#include "scheduler/jobs/shares/tenant_store.h"

namespace navtalk {

// Changes promises by changed_promise(), each with an event that says why: those that are due soon, and as many of the others
// in turn, behind the job `seen_promise`, which is moved on.
void change_promises(Transaction& transaction, const Division& division, const Cause& cause,
                     std::int64_t& seen_promise, TimePoint now);

// Promises, with an event, jobs that could not be promised when they were submitted, in their order; some of them.
void promise_rest(Transaction& transaction, const Division& division, const Cause& cause,
                  TimePoint now);

}  // namespace navtalk
