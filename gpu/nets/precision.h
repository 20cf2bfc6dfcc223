// Which number format each net computes in.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "gpu/device/device.h"
#include "gpu/model/model.h"
#include "gpu/model/model_files.h"

namespace navtalk::nets {

c10::ScalarType scalar_type(Precision precision);

// Fills info's precisions and batch: what is asked for, else what is fastest on this CPU. A UNet or
// encoder with a block narrower than k_narrow computes in fp32 also where bf16 is asked for by
// name, for random nets so narrow carry the rounding of weights and inputs to the edge of bf16's
// tolerance and past it (docs/golden.md). Who leaves the choice to us wants speed: there bf16
// begins at k_narrow_auto, from where on it saves a UNet a fifth of its time.
inline constexpr int k_narrow = 64, k_narrow_auto = 32;
// Error{invalid} for fp16, and for bf16 on a CPU without AVX-512.
void choose_precisions(std::optional<Precision> asked, const ModelFiles& files, ModelInfo& info);

}  // namespace navtalk::nets
