// Whether a comparison with a golden file is within tolerance (the table of docs/golden.md).
#pragma once

#include <string_view>

#include "gpu/device/device.h"
#include "gpu/verify/difference.h"
#include "gpu/verify/verify.h"

namespace navtalk {

// The nets' outputs that have a tolerance of their own in half precision.
enum class NetOutput { whisper_states, unet_output, latents, picture, face_network };

// max <= 1e-5, absolute.
GroupResult check_mel(std::string_view tensor, const FloatDifference& difference);
// fp32: max <= 1e-4 of the standard deviation; bf16 and fp16: the rms, by output. Face networks are fp32 only.
GroupResult check_net(std::string_view tensor, const FloatDifference& difference, NetOutput output,
                      Precision precision);
// fp32: at most one level apart, 0.5 % of bytes differing; bf16 and fp16: PSNR.
GroupResult check_faces(std::string_view tensor, const ByteDifference& difference,
                        Precision precision);
// Classes of pixels: at most 0.1 % of them differ.
GroupResult check_parts(std::string_view tensor, const ByteDifference& difference);
// Landmarks, in pixels: max <= 0.1.
GroupResult check_places(std::string_view tensor, const FloatDifference& difference);
GroupResult check_equal(std::string_view tensor, const FloatDifference& difference);
GroupResult check_equal(std::string_view tensor, const ByteDifference& difference);

}  // namespace navtalk
