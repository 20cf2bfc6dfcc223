#include "gpu/kernels/conv/depthwise_conv.h"

#include "gpu/kernels/conv/depthwise_row.h"
#include "gpu/kernels/parallel.h"

namespace navtalk::kernels {
namespace {

auto row_kernel(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return avx512_depthwise_row;
    case Isa::avx2:
      return avx2_depthwise_row;
    case Isa::portable:
      break;
  }
  return portable_depthwise_row;
}

}  // namespace

DepthwiseConv::DepthwiseConv(const float* weight, const float* of_bias, std::int64_t of_channels,
                             std::int64_t of_taps, Activation after)
    : channels(of_channels),
      taps(of_taps),
      activation(after),
      weights(static_cast<std::size_t>(of_taps * of_taps * of_channels)),
      bias(of_bias, of_bias + of_channels) {
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t tap = 0; tap < taps * taps; ++tap)
      weights[static_cast<std::size_t>(tap * channels + c)] = weight[c * taps * taps + tap];
}

// The twin that the vector kernels are tested against.
void portable_depthwise_row(const DepthwiseRow& row) {
  const DepthwiseConv& conv = *row.conv;
  for (std::int64_t x = 0; x < row.width; ++x)
    for (std::int64_t c = 0; c < conv.channels; ++c) {
      const std::int64_t at = x * conv.channels + c;
      float sum = conv.bias[static_cast<std::size_t>(c)];
      for (std::int64_t i = 0; i < conv.taps; ++i)
        for (std::int64_t j = 0; j < conv.taps; ++j) {
          const std::int64_t from = x + j - conv.taps / 2;
          if (from < 0 || from >= row.width) continue;
          sum += row.rows[i][from * conv.channels + c] *
                 conv.weights[static_cast<std::size_t>((i * conv.taps + j) * conv.channels + c)];
        }
      if (row.add != nullptr) sum += row.add[at];
      row.y[at] = activated(conv.activation, sum);
    }
}

void depthwise_conv(const DepthwiseConv& conv, const DepthwiseMaps& maps, Isa isa) {
  const std::int64_t line_size = maps.width * conv.channels;
  const std::vector<float> zeros(static_cast<std::size_t>(line_size));
  const auto kernel = row_kernel(isa);
  parallel_for(maps.images * maps.height, line_size * conv.taps,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t line = begin; line < end; ++line) {
                   const std::int64_t at = line * line_size, r = line % maps.height;
                   DepthwiseRow row{.conv = &conv, .width = maps.width, .y = maps.y + at};
                   if (maps.add != nullptr) row.add = maps.add + at;
                   for (std::int64_t i = 0; i < conv.taps; ++i) {
                     const std::int64_t below = i - conv.taps / 2;
                     const bool inside = r + below >= 0 && r + below < maps.height;
                     row.rows[i] = inside ? maps.x + at + below * line_size : zeros.data();
                   }
                   kernel(row);
                 }
               });
}

}  // namespace navtalk::kernels
