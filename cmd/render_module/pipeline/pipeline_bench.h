// Nets on the CPU and on a GPU in one run: times, and how far each is from fp32 on the CPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/context.h"
#include "cmd/render_module/pipeline/benched_device.h"

namespace navtalk::cmd {

struct PipelineRow {
  std::string precision;
  bool on_gpu = false;
  StageTimes times{};
  std::optional<double> roofline_percent{};  // the least time's share of the median
  std::optional<double>
      cpu_over_gpu{};  // of a GPU's: with the fastest of the CPU's for that stage and batch
};

// Of the faces that one set of nets makes of a sample, each the face that is furthest from fp32's on the CPU.
struct Closeness {
  std::string device, precision;
  double psnr_db = 0;  // infinity: equal
  double ssim = 0;
};

struct PipelineReport {
  std::vector<PipelineRow> rows{};
  std::vector<Closeness> closeness{};
  std::string gpu{};          // what it is; empty: there is none
  std::string missing_gpu{};  // then why
  std::string missing_cpu{};  // why the CPU has no rows; empty: it has
  struct Rates {
    std::string device;
    MeasuredRates rates;
  };
  std::vector<Rates> rates{};
};

// The CPU first, also where only its faces are needed, for fp32. `gpu`: nullopt without one. Errors of the devices.
PipelineReport bench_devices(const BenchedDevice& cpu, const std::optional<BenchedDevice>& gpu,
                             const Context& context);

// As text, or as JSON where the context asks for it. `threads` as they were asked for, 0: every core.
void print_pipeline(const PipelineReport& report, int threads, Context& context);

}  // namespace navtalk::cmd
