// The rows that `bench pipeline` and `bench faces` print.
#pragma once

#include <string>
#include <vector>

#include "cmd/bench/report.h"
#include "cmd/context.h"

namespace navtalk::cmd {

struct StageRow {
  std::string stage, unit;
  std::string device;     // of the nets
  std::string precision;  // empty where no net takes part
  int batch = 1;          // `timing` is of so many frames
  Timing timing;
};

// With the machine; as JSON where the context asks for it. `threads` as they were asked for, 0: every core.
void print_stages(const std::vector<StageRow>& rows, int threads, Context& context);

// Number formats that `device` computes in, for a bench that was told none.
std::vector<std::string> usual_precisions(const Device& device);

}  // namespace navtalk::cmd
