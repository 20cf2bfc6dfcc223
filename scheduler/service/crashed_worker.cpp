#include "scheduler/service/crashed_worker.h"

#include "scheduler/pool/update_row.h"

namespace navtalk {

void fail_crashed_worker(PoolStore& store, const std::string& name, const std::string& how,
                         const std::string& who) {
  const std::string why = "the worker ended with " + how;
  for (const Gpu& gpu : store.view().gpus) {
    if (gpu.name != name) continue;
    update_row(store, gpu.id, {who, why}, [&](const Gpu& row) {
      const bool fails = next(row.state, Event::fail) && row.state != State::stopping &&
                         row.intent.operation == Operation::none;
      return fails ? std::optional(GpuChange{.event = Event::fail, .last_error = why})
                   : std::nullopt;
    });
  }
}

}  // namespace navtalk
