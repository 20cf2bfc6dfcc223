// The inner loops of a direct convolution in AVX-512. See rows_avx512.cpp about what may be used here.
#include "gpu/kernels/conv/direct_steps.h"

#if defined(__AVX512BF16__)

#include "gpu/kernels/avx512.h"
#include "gpu/kernels/conv/direct_steps_vector.h"

namespace navtalk::kernels {

const DirectSteps& avx512_direct_steps() { return k_steps; }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const DirectSteps& avx512_direct_steps() { return portable_direct_steps(); }

}  // namespace navtalk::kernels

#endif
