// The CPU and the GPU of this machine, as `bench pipeline` times them: with Model, and a GPU's nets between events as well.
#pragma once

#include <optional>
#include <string>

#include "cmd/bench/pipeline.h"
#include "cmd/context.h"
#include "cmd/render_module/pipeline/benched_device.h"

namespace navtalk::cmd {

struct FoundDevices {
  BenchedDevice cpu;
  std::optional<BenchedDevice> gpu;
  std::string gpu_text;     // what it is
  std::string missing_gpu;  // why there is none
  std::string missing_cpu;  // why the CPU is not timed; empty: it is
};

// `options` and `context` outlive it. Error{invalid} where a GPU has to be there and is not.
FoundDevices model_devices(const BenchPipelineOptions& options, const Context& context);

}  // namespace navtalk::cmd
