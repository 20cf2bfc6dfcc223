#include "gpu/nets/precision.h"

#include <algorithm>

#include "core/error.h"

namespace navtalk::nets {
namespace {

// From this width on, reading a UNet's weights outweighs its operators' fixed cost.
constexpr int k_wide_unet = 128;

// A narrow UNet is bound by its operators' fixed cost, which frames share; a wide one by reading
// its weights, which four frames share almost as well as eight.
constexpr int k_narrow_batch = 8, k_wide_batch = 4;

}  // namespace

c10::ScalarType scalar_type(Precision precision) {
  return precision == Precision::bf16 ? c10::ScalarType::BFloat16 : c10::ScalarType::Float;
}

void choose_precisions(std::optional<Precision> asked, const ModelFiles& files, ModelInfo& info) {
  const std::string isa = widest_isa();
  const bool native = isa == "avx512_bf16" || isa == "amx_bf16";
  if (asked == Precision::fp16)
    throw Error(Code::usage, "fp16 runs on GPUs only: use --precision fp32, bf16 or auto");
  if (asked == Precision::bf16 && isa != "avx512" && !native)
    throw Error(Code::invalid,
                "bf16 needs a CPU with AVX-512, this one has " + isa + ": use --precision fp32");
  // Measured (docs/performance.md): where the CPU multiplies bf16 natively it is the faster one for
  // every net, tiny ones too.
  const Precision fastest = native ? Precision::bf16 : Precision::fp32;
  const std::vector<int>& widths = files.unet_config.block_out_channels;
  const bool wide_unet = *std::max_element(widths.begin(), widths.end()) >= k_wide_unet;
  info.batch = wide_unet ? k_wide_batch : k_narrow_batch;
  info.whisper_precision = asked.value_or(fastest);
  info.unet_precision = asked.value_or(fastest);
  info.vae_precision = asked.value_or(fastest);
}

}  // namespace navtalk::nets
