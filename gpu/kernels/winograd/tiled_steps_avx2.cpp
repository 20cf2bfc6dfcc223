// The steps of a tiled convolution in AVX2, 8 channels at a time. See rows_avx2.cpp about what may be used here.
#include "gpu/kernels/winograd/tiled_steps.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"
#include "gpu/kernels/winograd/tiled_steps_vector.h"

namespace navtalk::kernels {

const TiledSteps& avx2_tiled_steps(TiledKind kind) { return steps_of(kind); }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const TiledSteps& avx2_tiled_steps(TiledKind kind) { return portable_tiled_steps(kind); }

}  // namespace navtalk::kernels

#endif
