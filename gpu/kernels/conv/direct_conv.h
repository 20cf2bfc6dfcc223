// Convolutions of fp32 maps with any kernel, stride and padding, as products of pixels and packed weights; a linear layer is one
// with a kernel of one. Unlike oneDNN's, the packing fits every batch and every number of threads, and neither changes a result.
//
// A sum is made of chains of at most 256 products, which are then added: one long chain loses several times as much.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/kernels/activation.h"
#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

struct DirectConv {
  struct Shape {
    std::int64_t in = 0, out = 0;
    std::int64_t rows = 1, columns = 1;  // of the kernel
    std::int64_t stride = 1;
    std::int64_t row_padding = 0, column_padding = 0;  // zeros on each side
    // Of a map with so many rows or columns.
    std::int64_t rows_for(std::int64_t n) const {
      return (n + 2 * row_padding - rows) / stride + 1;
    }
    std::int64_t columns_for(std::int64_t n) const {
      return (n + 2 * column_padding - columns) / stride + 1;
    }
  };
  // `weight` [out,in,rows,columns]; `of_bias` [out], or null for zeros.
  DirectConv(const Shape& of, const float* weight, const float* of_bias,
             Activation after = Activation::none);

  Shape shape;
  Activation activation;
  std::int64_t width;  // out, rounded up to 16
  // Taps whose products are one chain: several where the inputs are few, one and a part of the inputs where they are many.
  std::int64_t taps_at_once;
  std::vector<float> weights;  // [taps of a chain][part of in][width / 16][tap][in of the part][16]
  std::vector<float> bias;     // [width]
};

// NHWC maps.
struct DirectMaps {
  const float* x = nullptr;      // [images, height, width, in]
  float* y = nullptr;            // [images, rows_for(height), columns_for(width), out]
  const float* add = nullptr;    // as y and possibly y itself: added before the activation; or null
  const float* after = nullptr;  // the same, added after it
  std::int64_t images = 1, height = 1, width = 1;
};

void direct_conv(const DirectConv& conv, const DirectMaps& maps, Isa isa = best_isa());

}  // namespace navtalk::kernels
