// Which number format each net computes in.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "gpu/device.h"
#include "gpu/model.h"
#include "gpu/model_files.h"

namespace navtalk::nets {

c10::ScalarType scalar_type(Precision precision);

// Fills info's precisions and batch: what is asked for, else what is fastest on this CPU. A UNet or
// encoder with a block narrower than k_narrow computes in fp32 also where bf16 is asked for: bf16
// saves such a UNet a twentieth of its time, and random nets so narrow carry the rounding of
// weights and inputs past the tolerance of bf16 (docs/golden.md).
inline constexpr int k_narrow = 32;
// Error{invalid} for fp16, and for bf16 on a CPU without AVX-512.
void choose_precisions(std::optional<Precision> asked, const ModelFiles& files, ModelInfo& info);

}  // namespace navtalk::nets
