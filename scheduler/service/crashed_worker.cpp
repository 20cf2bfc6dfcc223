#include "scheduler/service/crashed_worker.h"

#include "scheduler/pool/fail_row.h"

namespace navtalk {

void fail_crashed_worker(PoolStore& store, const std::string& name, const std::string& how,
                         const std::string& who) {
  const std::string why = "the worker ended with " + how;
  for (const Gpu& gpu : store.view().gpus) {
    if (gpu.name != name) continue;
    fail_row(store, gpu.id, {.cause = {who, why}}, [](const Gpu& row) {
      return next(row.state, Event::fail) && row.state != State::stopping &&
             row.intent.operation == Operation::none;
    });
  }
}

}  // namespace navtalk
