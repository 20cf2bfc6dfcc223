#include "gpu/nets/execution.h"

#include <algorithm>

#include "core/base/error.h"
#include "gpu/kernels/isa.h"

namespace navtalk {
namespace {

bool narrow(const std::vector<int>& widths, bool by_name) {
  return std::ranges::min(widths) < (by_name ? k_narrow : k_narrow_auto);
}

// From this width on, reading a UNet's weights outweighs its operators' fixed cost.
constexpr int k_wide_unet = 128;

// Frames of a narrow UNet are parallel tasks: with more of them, threads wait less for the last
// one. A wide UNet is bound by reading its weights, which four frames share almost as well as eight.
constexpr int k_narrow_batch = 16, k_wide_batch = 4;

// A GPU reads the weights of a wide UNet as long as it computes 1.7 faces; beyond eight more faces gain nothing. Two maps of the
// decoder's largest level stay in a large GPU's cache, eight do not. Computed, not measured (docs/plan.md).
constexpr int k_gpu_batch = 8, k_gpu_decoded = 2;

}  // namespace

void require_gpu_format(Precision asked) {
  if (asked == Precision::bf16)
    throw Error(Code::invalid, "bf16 runs on CPUs only: a GPU computes in fp16 or fp32");
}

void require_cpu_format(Precision asked) {
  if (asked == Precision::fp16)
    throw Error(Code::invalid, "fp16 runs on GPUs only: a CPU computes in fp32 or bf16");
  const std::string isa = widest_isa();
  if (asked == Precision::bf16 && !isa.starts_with("avx512") && isa != "amx_bf16")
    throw Error(Code::invalid,
                "bf16 needs a CPU with AVX-512, this one has " + isa + ": choose fp32");
}

Execution gpu_execution(std::optional<Precision> asked) {
  if (asked) require_gpu_format(*asked);
  const Precision all = asked.value_or(Precision::fp16);
  return {.whisper = all,
          .unet = all,
          .encoder = all,
          .decoder = all,
          .batch = k_gpu_batch,
          .decoded = k_gpu_decoded};
}

std::optional<Precision> asked_elsewhere(std::optional<Precision> asked) {
  return asked == Precision::fp32 ? asked : std::nullopt;
}

Execution with_decoder_of(Execution all, const Execution& decoder) {
  all.decoder = decoder.decoder;
  all.decoded = decoder.decoded;
  all.same_in_batches = false;  // nobody has seen that there
  return all;
}

Execution choose_execution(std::optional<Precision> asked, const UnetConfig& unet,
                           const VaeConfig& vae) {
  if (asked) require_cpu_format(*asked);
  const std::string isa = widest_isa();
  const bool native = isa == "avx512_bf16" || isa == "amx_bf16";
  // Measured (docs/experiments/rendering-speed.md): where the CPU multiplies bf16 natively it is the faster one for
  // every net, narrow UNets by next to nothing.
  const Precision wanted = asked.value_or(native ? Precision::bf16 : Precision::fp32);
  const std::vector<int>& widths = unet.block_out_channels;
  const bool wide_unet = std::ranges::max(widths) >= k_wide_unet;
  const bool by_name = asked.has_value();
  const Precision talking = narrow(widths, by_name) ? Precision::fp32 : wanted;
  return {
      .whisper = wanted,
      .unet = talking,
      .encoder = narrow(vae.block_out_channels, by_name) ? Precision::fp32 : wanted,
      .decoder = wanted,
      .batch = wide_unet ? k_wide_batch : k_narrow_batch,
      .parallel_frames = !wide_unet,
      // Our kernels take every layer image by image in fp32. Of bf16 it was seen with small nets only; oneDNN, which other
      // machines use in fp32, too, divides some sums by the number of rows.
      .same_in_batches = kernels::best_isa() != kernels::Isa::portable &&
                         talking == Precision::fp32 && wanted == Precision::fp32};
}

}  // namespace navtalk
