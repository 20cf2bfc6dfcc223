#include "gpu/kernels/conv/output_conv.h"

#include <algorithm>

#include "gpu/kernels/activated_rows.h"
#include "gpu/kernels/bf16.h"
#include "gpu/kernels/parallel.h"

namespace navtalk::kernels {

OutputConv::OutputConv(const float* weight, const float* of_bias, std::int64_t inputs)
    : in(inputs), weights(static_cast<std::size_t>(3 * inputs * 16)) {
  std::copy_n(of_bias, 3, bias);
  for (std::int64_t o = 0; o < 3; ++o)
    for (std::int64_t i = 0; i < in; ++i)
      for (std::int64_t row = 0; row < 3; ++row)
        for (std::int64_t column = 0; column < 3; ++column) {
          const std::int64_t at = ((row * in + i / 2 * 2) * 8 + 4 * column + o) * 2 + i % 2;
          store(weight[(o * in + i) * 9 + row * 3 + column], weights[static_cast<std::size_t>(at)]);
        }
}

void portable_output_row(const OutputRow& row) {
  for (std::int64_t x = 0; x < row.width; ++x)
    for (std::int64_t o = 0; o < 3; ++o) {
      float sum = row.bias[o];
      for (std::int64_t column = 0; column < 3; ++column) {
        const std::int64_t from = x + column - 1;
        if (from < 0 || from >= row.width) continue;
        for (std::int64_t r = 0; r < 3; ++r)
          for (std::int64_t i = 0; i < row.in; ++i)
            sum +=
                to_float(row.rows[r][from * row.in + i]) *
                to_float(row.weights[((r * row.in + i / 2 * 2) * 8 + 4 * column + o) * 2 + i % 2]);
      }
      row.y[x * 4 + o] = sum;
    }
}

void output_conv(const OutputConv& conv, const OutputMaps& maps, Isa isa) {
  const auto make_row = isa == Isa::avx512 ? avx512_output_row : portable_output_row;
  const ActivatedRows::Map map{.x = maps.x,
                               .height = maps.height,
                               .width = maps.width,
                               .channels = conv.in,
                               .scale = maps.scale,
                               .shift = maps.shift};
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    ActivatedRows activated(map, isa);
    std::vector<float> partial(static_cast<std::size_t>(16 * (maps.width + 2)));
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t image = line / maps.height, y = line % maps.height;
      make_row({.rows = {activated(image, y - 1), activated(image, y), activated(image, y + 1)},
                .in = conv.in,
                .width = maps.width,
                .weights = conv.weights.data(),
                .bias = conv.bias,
                .partial = partial.data(),
                .y = maps.y + line * maps.width * 4});
    }
  };
  parallel_for(maps.images * maps.height, 4 * maps.width * conv.in, rows);
}

}  // namespace navtalk::kernels
