#include "scheduler/simulator/simulator.h"

#include "core/base/check.h"
#include "scheduler/simulator/world.h"

namespace navtalk {

SimulatorResult simulate(const Trace& trace, const Strategy& strategy,
                         const SimulatorOptions& options, const std::stop_token& stop) {
  NAVTALK_CHECK(!trace.empty() && strategy.kind != Strategy::Kind::oracle);
  return World(trace, strategy, options).run(stop);
}

}  // namespace navtalk
