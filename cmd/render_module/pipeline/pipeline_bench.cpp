#include "cmd/render_module/pipeline/pipeline_bench.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"
#include "gpu/verify/difference.h"
#include "gpu/verify/ssim.h"

namespace navtalk::cmd {
namespace {

constexpr const char* k_reference = "fp32";

ConstImageView face_of(const NdArray<std::uint8_t>& faces, std::int64_t i) {
  const auto side = static_cast<int>(faces.dim(1));
  return {faces.row(i), side, side, 3, std::ptrdiff_t{side} * 3};
}

Closeness closeness(const NdArray<std::uint8_t>& faces, const NdArray<std::uint8_t>& reference) {
  NAVTALK_CHECK(faces.shape == reference.shape);
  Closeness worst{
      .device = {}, .precision = {}, .psnr_db = std::numeric_limits<double>::infinity(), .ssim = 1};
  const std::size_t bytes = faces.stride0();
  for (std::int64_t i = 0; i < faces.dim(0); ++i) {
    const double psnr_db =
        difference(std::span(faces.row(i), bytes), std::span(reference.row(i), bytes)).psnr_db;
    worst.psnr_db = std::min(worst.psnr_db, psnr_db);
    worst.ssim = std::min(worst.ssim, ssim(face_of(faces, i), face_of(reference, i)));
  }
  return worst;
}

class Bench {
 public:
  // `compares`: there are others than fp32 on the CPU.
  Bench(const Context& context, bool compares) : context_(context), compares_(compares) {}

  void time(const BenchedDevice& device, bool on_gpu) {
    for (const std::string& precision : device.precisions) {
      if (context_.progress)
        context_.progress(device.name + " " + precision, report_.rows.size(), 0);
      const BenchedNets nets = device.load(precision);
      for (StageTimes& times : nets.times())
        report_.rows.push_back(row(nets.precision, on_gpu, std::move(times)));
      if (compares_) keep(device.name, nets, precision == k_reference && !on_gpu);
    }
    for (const MeasuredRates& rates : device.rates()) report_.rates.push_back({device.name, rates});
  }

  // fp32 on the CPU, where no row needs it.
  void ensure_reference(const BenchedDevice& cpu) {
    if (reference_ || made_.empty()) return;
    if (context_.progress) context_.progress("cpu fp32, to compare with", report_.rows.size(), 0);
    reference_ = cpu.load(k_reference).faces();
  }

  PipelineReport take() {
    for (const Made& made : made_) {
      Closeness one = closeness(made.faces, *reference_);
      one.device = made.device;
      one.precision = made.precision;
      report_.closeness.push_back(std::move(one));
    }
    for (PipelineRow& one : report_.rows)
      if (one.on_gpu) one.cpu_over_gpu = ratio(one);
    return std::move(report_);
  }

 private:
  struct Made {
    std::string device, precision;
    NdArray<std::uint8_t> faces;
  };

  static PipelineRow row(const std::string& precision, bool on_gpu, StageTimes times) {
    PipelineRow made{.precision = times.of_nets ? precision : "", .on_gpu = on_gpu};
    if (times.least_s) made.roofline_percent = 100 * *times.least_s / times.timing().median.count();
    made.times = std::move(times);
    return made;
  }

  void keep(const std::string& device, const BenchedNets& nets, bool is_reference) {
    NdArray<std::uint8_t> faces = nets.faces();
    if (is_reference)
      reference_ = std::move(faces);
    else
      made_.push_back({device, nets.precision, std::move(faces)});
  }

  std::optional<double> ratio(const PipelineRow& gpu) const {
    std::optional<double> fastest_s;
    for (const PipelineRow& one : report_.rows) {
      if (one.on_gpu || one.times.stage != gpu.times.stage || one.times.batch != gpu.times.batch)
        continue;
      const double median_s = one.times.timing().median.count();
      fastest_s = std::min(fastest_s.value_or(median_s), median_s);
    }
    if (!fastest_s) return std::nullopt;
    return *fastest_s / gpu.times.timing().median.count();
  }

  const Context& context_;
  const bool compares_;
  PipelineReport report_;
  std::vector<Made> made_;
  std::optional<NdArray<std::uint8_t>> reference_;
};

}  // namespace

PipelineReport bench_devices(const BenchedDevice& cpu, const std::optional<BenchedDevice>& gpu,
                             const Context& context) {
  const bool others = std::ranges::any_of(
      cpu.precisions, [](const std::string& precision) { return precision != k_reference; });
  Bench bench(context, gpu.has_value() || others);
  bench.time(cpu, false);
  if (gpu) bench.time(*gpu, true);
  bench.ensure_reference(cpu);
  return bench.take();
}

}  // namespace navtalk::cmd
