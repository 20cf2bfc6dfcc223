// The steps of Winograd's F(4x4, 3x3) in AVX2, 8 channels at a time. See rows_avx2.cpp about what may be used here.
#include "gpu/kernels/winograd/winograd4_steps.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"
#include "gpu/kernels/winograd/winograd4_steps_vector.h"

namespace navtalk::kernels {

const Winograd4Steps& avx2_winograd4_steps() { return k_steps; }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const Winograd4Steps& avx2_winograd4_steps() { return portable_winograd4_steps(); }

}  // namespace navtalk::kernels

#endif
