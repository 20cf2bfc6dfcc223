// The inner loops of a direct convolution in AVX2. See rows_avx2.cpp about what may be used here.
#include "gpu/kernels/conv/direct_steps.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"
#include "gpu/kernels/conv/direct_steps_vector.h"

namespace navtalk::kernels {

const DirectSteps& avx2_direct_steps() { return k_steps; }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const DirectSteps& avx2_direct_steps() { return portable_direct_steps(); }

}  // namespace navtalk::kernels

#endif
