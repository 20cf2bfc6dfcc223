// The steps of Winograd's F(4x4, 3x3) in AVX-512, 16 channels at a time. See rows_avx512.cpp about what may be used here.
#include "gpu/kernels/winograd/winograd4_steps.h"

#if defined(__AVX512BF16__)

#include "gpu/kernels/avx512.h"
#include "gpu/kernels/winograd/winograd4_steps_vector.h"

namespace navtalk::kernels {

const Winograd4Steps& avx512_winograd4_steps() { return k_steps; }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const Winograd4Steps& avx512_winograd4_steps() { return portable_winograd4_steps(); }

}  // namespace navtalk::kernels

#endif
