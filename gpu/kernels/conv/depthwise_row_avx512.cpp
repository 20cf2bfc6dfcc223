// A row of a depthwise convolution in AVX-512. See rows_avx512.cpp about what may be used here.
#include "gpu/kernels/conv/depthwise_row.h"

#if defined(__AVX512BF16__)

#include "gpu/kernels/avx512.h"
#include "gpu/kernels/conv/depthwise_row_vector.h"

namespace navtalk::kernels {

void avx512_depthwise_row(const DepthwiseRow& row) { row_of(row); }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

void avx512_depthwise_row(const DepthwiseRow& row) { portable_depthwise_row(row); }

}  // namespace navtalk::kernels

#endif
