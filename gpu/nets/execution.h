// How the nets run on this machine: the number format that each computes in, and how frames are
// spread over threads.
#pragma once

#include <optional>

#include "gpu/device/device.h"
#include "gpu/nets/net_config.h"

namespace navtalk {

// Error{invalid} for fp16, and for bf16 on a CPU without AVX-512.
void require_cpu_format(Precision asked);
// Error{invalid} for bf16.
void require_gpu_format(Precision asked);

struct Execution {
  // What each net computes in, which may be finer than asked for.
  Precision whisper = Precision::fp32, unet = Precision::fp32, encoder = Precision::fp32,
            decoder = Precision::fp32;
  int batch = 1;                 // frames in one call of Model::faces() that cost the least each
  int decoded = 1;               // faces in one pass through the decoder
  bool parallel_frames = false;  // each thread takes frames of its own in Model::faces()
  bool same_in_batches = false;  // a face has the same bytes whatever other faces are in the call
};

// What is asked for, else what is fastest on this CPU. A UNet or
// encoder with a block narrower than k_narrow computes in fp32 also where bf16 is asked for by
// name, because random nets that narrow bring the rounding of weights and inputs to the edge of
// bf16's tolerance and past it (docs/golden.md). A caller that leaves the choice open wants speed:
// there bf16 begins at k_narrow_auto, from where on it saves a UNet a fifth of its time.
inline constexpr int k_narrow = 64, k_narrow_auto = 32;
// Errors of require_cpu_format().
Execution choose_execution(std::optional<Precision> asked, const UnetConfig& unet,
                           const VaeConfig& vae);
// The same for a GPU: fp16 unless fp32 is asked for.
Execution gpu_execution(std::optional<Precision> asked);
// The format that was asked for, where the other kind of device has it, too.
std::optional<Precision> asked_elsewhere(std::optional<Precision> asked);
// `all`, with the decoder on a device of its own, which runs it as `decoder` says.
Execution with_decoder_of(Execution all, const Execution& decoder);

}  // namespace navtalk
