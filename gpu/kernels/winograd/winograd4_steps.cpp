// The portable steps: the clearest loops, and the twin that the vector ones are tested against.
#include "gpu/kernels/winograd/winograd4_steps.h"

#include <algorithm>

#include "gpu/kernels/winograd/base_change4.h"

namespace navtalk::kernels {
namespace {

float itself(float x) { return x; }

// Where a block keeps channel c of a slot's position.
std::int64_t place(const TileBlock& block, std::int64_t position, std::int64_t slot,
                   std::int64_t c) {
  return ((c / k_group4 * k_positions4 + position) * block.room + slot) * k_group4 + c % k_group4;
}

void transform(const TileBlock& block, const TileStrip& strip) {
  const std::int64_t in = block.conv->in;
  for (std::int64_t t = 0; t < strip.tiles; ++t)
    for (std::int64_t c = 0; c < in; ++c) {
      float columns[6][6];  // [column of the patch][row position]
      for (int j = 0; j < 6; ++j) {
        const std::int64_t x = (strip.first_tile + t) * 4 - 1 + j;
        float d[6] = {};
        for (int i = 0; i < 6 && x >= 0 && x < block.width; ++i) d[i] = strip.rows[i][x * in + c];
        to_positions4(d, columns[j], itself);
      }
      for (int i = 0; i < 6; ++i) {
        float d[6], v[6];
        for (int j = 0; j < 6; ++j) d[j] = columns[j][i];
        to_positions4(d, v, itself);
        for (int j = 0; j < 6; ++j) block.inputs[place(block, i * 6 + j, strip.slot + t, c)] = v[j];
      }
    }
}

void multiply(const TileBlock& block, std::int64_t begin, std::int64_t end) {
  const std::int64_t in = block.conv->in, out = block.conv->out;
  for (std::int64_t first = 0; first < in; first += k_part4) {
    const std::int64_t depth = std::min(k_part4, in - first);
    const float* part = block.conv->weights.data() + first * k_positions4 * out;
    for (int position = 0; position < k_positions4; ++position)
      for (std::int64_t t = 0; t < block.tiles; ++t)
        for (std::int64_t o = begin; o < end; ++o) {
          const float* w = part + (position * out + o / k_group4 * k_group4) * depth + o % k_group4;
          float sum = 0;
          for (std::int64_t i = 0; i < depth; ++i)
            sum += block.inputs[place(block, position, t, first + i)] * w[i * k_group4];
          float& product = block.products[place(block, position, t, o - block.base)];
          product = first == 0 ? sum : product + sum;
        }
  }
}

void finish(const TileBlock& block, const TileStrip& strip, std::int64_t begin, std::int64_t end) {
  const Winograd4Conv& conv = *block.conv;
  for (std::int64_t t = 0; t < strip.tiles; ++t)
    for (std::int64_t o = begin; o < end; ++o) {
      float columns[6][4];  // [column position][row of pixels]
      for (int j = 0; j < 6; ++j) {
        float m[6];
        for (int i = 0; i < 6; ++i)
          m[i] = block.products[place(block, i * 6 + j, strip.slot + t, o - block.base)];
        to_pixels4(m, columns[j], itself);
      }
      for (int i = 0; i < 4 && strip.y[i] != nullptr; ++i) {
        float m[6], pixels[4];
        for (int j = 0; j < 6; ++j) m[j] = columns[j][i];
        to_pixels4(m, pixels, itself);
        for (std::int64_t j = 0; j < 4; ++j) {
          const std::int64_t x = (strip.first_tile + t) * 4 + j, at = x * conv.out + o;
          if (x >= block.width) break;
          float sum = pixels[j] + conv.bias[static_cast<std::size_t>(o)];
          if (strip.add[i] != nullptr) sum += strip.add[i][at];
          strip.y[i][at] = activated(conv.activation, sum);
        }
      }
    }
}

constexpr Winograd4Steps k_steps{transform, multiply, finish};

}  // namespace

const Winograd4Steps& portable_winograd4_steps() { return k_steps; }

}  // namespace navtalk::kernels
