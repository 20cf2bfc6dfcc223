// A local worker that ended by itself fails its row at once, not only when probes have missed it.
#pragma once

#include <string>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

// `name`: of the GPU. `how`: "signal 9", "exit status 1". A row whose create or wake is under way is
// left to the executor.
void fail_crashed_worker(PoolStore& store, const std::string& name, const std::string& how,
                         const std::string& who);

}  // namespace navtalk
