// A row of a depthwise convolution in AVX2. See rows_avx2.cpp about what may be used here.
#include "gpu/kernels/conv/depthwise_row.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"
#include "gpu/kernels/conv/depthwise_row_vector.h"

namespace navtalk::kernels {

void avx2_depthwise_row(const DepthwiseRow& row) { row_of(row); }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

void avx2_depthwise_row(const DepthwiseRow& row) { portable_depthwise_row(row); }

}  // namespace navtalk::kernels

#endif
