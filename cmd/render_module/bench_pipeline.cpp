// Every stage between audio and a finished picture, with the nets in each precision and batch that is asked for, on the CPU and on the GPU:
// what one second of avatar costs here, where the time goes, and what the formats cost in quality.
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/pipeline/model_devices.h"
#include "cmd/render_module/pipeline/pipeline_bench.h"

namespace navtalk::cmd {

int bench_pipeline(const BenchPipelineOptions& options, Context& context) {
  const FoundDevices found = model_devices(options, context);
  PipelineReport report = bench_devices(found.cpu, found.gpu, context);
  report.gpu = found.gpu_text;
  report.missing_gpu = found.missing_gpu;
  report.missing_cpu = found.missing_cpu;
  print_pipeline(report, options.threads, context);
  return 0;
}

}  // namespace navtalk::cmd
