#include "gpu/kernels/tokens.h"

#include <cstddef>

#include "gpu/kernels/parallel.h"
#include "gpu/kernels/rows.h"

namespace navtalk::kernels {
namespace {

const std::byte* at(const void* p, std::int64_t element, Format format) {
  return static_cast<const std::byte*>(p) + element * item_size(format);
}
std::byte* at(void* p, std::int64_t element, Format format) {
  return static_cast<std::byte*>(p) + element * item_size(format);
}

}  // namespace

void layer_norm(const void* x, void* y, Format format, std::int64_t rows, std::int64_t channels,
                const float* gamma, const float* beta, float eps, Isa isa) {
  const RowKernels& kernels = row_kernels(isa, format);
  parallel_for(rows, channels, [&](std::int64_t begin, std::int64_t end) {
    kernels.layer_norm(at(x, begin * channels, format), at(y, begin * channels, format),
                       end - begin, channels, gamma, beta, eps);
  });
}

void geglu(const void* x, void* y, Format format, std::int64_t rows, std::int64_t channels,
           Isa isa) {
  const RowKernels& kernels = row_kernels(isa, format);
  parallel_for(rows, channels * 2, [&](std::int64_t begin, std::int64_t end) {
    kernels.geglu(at(x, begin * channels * 2, format), at(y, begin * channels, format), end - begin,
                  channels);
  });
}

void gelu(const void* x, void* y, Format format, std::int64_t count, Isa isa) {
  const RowKernels& kernels = row_kernels(isa, format);
  parallel_for((count + 15) / 16, 16, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * 16, last = end * 16 < count ? end * 16 : count;
    kernels.gelu(at(x, first, format), at(y, first, format), last - first);
  });
}

}  // namespace navtalk::kernels
