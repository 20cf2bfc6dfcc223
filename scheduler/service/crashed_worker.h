// A local worker that ended by itself fails its row at once, not only when probes have missed it, and gives its
// device back without the hold of other failed GPUs.
#pragma once

#include <string>

#include "scheduler/pool/pool_store.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

// `name`: of the GPU. `how`: "signal 9", "exit status 1". A row whose create or wake is under way is
// left to the executor.
void fail_crashed_worker(PoolStore& store, const std::string& name, const std::string& how,
                         const std::string& who);

// Destroys the failed rows of that host whose process has ended and whose sessions are over, as far as
// `local`, the provider of that host, lets another worker take the device (Provider::replaceable()). A worker
// that never became ready keeps its hold, so that its reason can be read. `who`: a process of that host.
void release_ended_workers(PoolStore& store, Provider& local, const std::string& host,
                           const std::string& who);

}  // namespace navtalk
