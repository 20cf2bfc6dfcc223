#include "gpu/kernels/conv/output_conv.h"

#include <algorithm>

#include "gpu/kernels/activated_rows.h"
#include "gpu/kernels/bf16.h"
#include "gpu/kernels/parallel.h"

namespace navtalk::kernels {

namespace {

// Where the weight of input i at a row and a column of the kernel and an output lies.
std::int64_t weight_at(Format format, std::int64_t inputs, std::int64_t i, std::int64_t row,
                       std::int64_t column, std::int64_t output) {
  const std::int64_t lane = 4 * column + output;
  if (format == Format::fp32) return (row * inputs + i) * 16 + lane;
  return ((row * inputs + i / 2 * 2) * 8 + lane) * 2 + i % 2;
}

template <class T>
constexpr Format k_format = sizeof(T) == 4 ? Format::fp32 : Format::bf16;

template <class T>
void store_row(const OutputRow<T>& row, Isa isa) {
  if constexpr (k_format<T> == Format::fp32) {
    isa == Isa::portable ? portable_output_row(row) : avx2_output_row(row);
  } else {
    isa == Isa::avx512 ? avx512_output_row(row) : portable_output_row(row);
  }
}

template <class T>
void run(const OutputConv& conv, const T* weights, const OutputMaps& maps, Isa isa) {
  const typename ActivatedRows<T>::Map map{.x = static_cast<const T*>(maps.x),
                                           .height = maps.height,
                                           .width = maps.width,
                                           .channels = conv.in,
                                           .scale = maps.scale,
                                           .shift = maps.shift};
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    ActivatedRows<T> activated(map, isa);
    std::vector<float> partial(static_cast<std::size_t>(16 * (maps.width + 2)));
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t image = line / maps.height, y = line % maps.height;
      store_row<T>({.rows = {activated(image, y - 1), activated(image, y), activated(image, y + 1)},
                    .in = conv.in,
                    .width = maps.width,
                    .weights = weights,
                    .bias = conv.bias,
                    .partial = partial.data(),
                    .y = maps.y + line * maps.width * 4},
                   isa);
    }
  };
  parallel_for(maps.images * maps.height, 4 * maps.width * conv.in, rows);
}

}  // namespace

OutputConv::OutputConv(Format of_map, const float* weight, const float* of_bias,
                       std::int64_t inputs)
    : format(of_map), in(inputs) {
  std::copy_n(of_bias, 3, bias);
  const auto size = static_cast<std::size_t>(3 * inputs * 16);
  format == Format::fp32 ? fp32_weights.resize(size) : bf16_weights.resize(size);
  for (std::int64_t o = 0; o < 3; ++o)
    for (std::int64_t i = 0; i < in; ++i)
      for (std::int64_t row = 0; row < 3; ++row)
        for (std::int64_t column = 0; column < 3; ++column) {
          const auto at = static_cast<std::size_t>(weight_at(format, in, i, row, column, o));
          const float value = weight[(o * in + i) * 9 + row * 3 + column];
          format == Format::fp32 ? store(value, fp32_weights[at]) : store(value, bf16_weights[at]);
        }
}

template <class T>
void portable_output_row(const OutputRow<T>& row) {
  for (std::int64_t x = 0; x < row.width; ++x)
    for (std::int64_t o = 0; o < 3; ++o) {
      float sum = row.bias[o];
      for (std::int64_t column = 0; column < 3; ++column) {
        const std::int64_t from = x + column - 1;
        if (from < 0 || from >= row.width) continue;
        for (std::int64_t r = 0; r < 3; ++r)
          for (std::int64_t i = 0; i < row.in; ++i)
            sum += to_float(row.rows[r][from * row.in + i]) *
                   to_float(row.weights[weight_at(k_format<T>, row.in, i, r, column, o)]);
      }
      row.y[x * 4 + o] = sum;
    }
}
template void portable_output_row(const OutputRow<float>& row);
template void portable_output_row(const OutputRow<std::uint16_t>& row);

void output_conv(const OutputConv& conv, const OutputMaps& maps, Isa isa) {
  if (conv.format == Format::fp32)
    run(conv, conv.fp32_weights.data(), maps, isa);
  else
    run(conv, conv.bf16_weights.data(), maps, isa);
}

}  // namespace navtalk::kernels
