#include "scheduler/service/crashed_worker.h"

namespace navtalk {

void fail_crashed_worker(PoolStore& store, const std::string& name, const std::string& how,
                         const std::string& who) {
  const std::string why = "the worker ended with " + how;
  for (bool changed = false; !changed;) {
    changed = true;
    for (const Gpu& gpu : store.view().gpus) {
      if (gpu.name != name || !next(gpu.state, Event::fail) || gpu.state == State::stopping)
        continue;
      if (gpu.intent.operation != Operation::none) continue;
      const GpuChange change{
          .id = gpu.id, .version = gpu.version, .event = Event::fail, .last_error = why};
      changed = store.change(change, {who, why}).has_value();
    }
  }
}

}  // namespace navtalk
