// The inner loops of a direct convolution over vectors of k_lanes floats. Only for direct_steps_avx2.cpp and _avx512.cpp, which
// include the vectors of their width before; all of it has internal linkage. Both widths give the same sums.
#pragma once

#include "gpu/kernels/conv/direct_steps.h"

namespace navtalk::kernels {
namespace {

using Vector = Floats::Vector;
constexpr std::int64_t k_vectors = k_outputs / k_lanes;  // that hold a group of outputs
static_assert(k_pixels == 6);

// Of k_pixels pixels and `count` vectors of outputs, whose weights lie `apart`.
template <std::int64_t count>
inline void products_of(const DirectProducts& of, std::int64_t apart) {
  Vector s[k_pixels][count];
#pragma GCC unroll 6
  for (std::int64_t p = 0; p < k_pixels; ++p)
#pragma GCC unroll 2
    for (std::int64_t o = 0; o < count; ++o) s[p][o] = Floats::zero();
  fetch(of.soon, of.soon_weights);
  for (std::int64_t p = 0; p < of.next_count; ++p) fetch(of.next[p] + of.next_first, of.next_depth);
  const float* weights = of.weights;
  for (std::int64_t tap = 0; tap < of.taps; ++tap) {
    const float* const* const pixels = of.pixels + tap * of.pitch;
    const float *const p0 = pixels[0] + of.first, *const p1 = pixels[1] + of.first;
    const float *const p2 = pixels[2] + of.first, *const p3 = pixels[3] + of.first;
    const float *const p4 = pixels[4] + of.first, *const p5 = pixels[5] + of.first;
#pragma GCC unroll 2
    for (std::int64_t i = 0; i < of.depth; ++i, weights += k_outputs) {
      Vector w[count];
#pragma GCC unroll 2
      for (std::int64_t o = 0; o < count; ++o) w[o] = Floats::load(weights + o * apart);
      const float* const at[k_pixels] = {p0 + i, p1 + i, p2 + i, p3 + i, p4 + i, p5 + i};
#pragma GCC unroll 6
      for (std::int64_t p = 0; p < k_pixels; ++p) {
        const Vector x = Floats::all(*at[p]);
#pragma GCC unroll 2
        for (std::int64_t o = 0; o < count; ++o) s[p][o] = Floats::multiply_add(x, w[o], s[p][o]);
      }
    }
  }
#pragma GCC unroll 6
  for (std::int64_t p = 0; p < k_pixels; ++p)
#pragma GCC unroll 2
    for (std::int64_t o = 0; o < count; ++o) {
      float* const to = of.sums + p * of.stride + o * k_lanes;
      Floats::store(to, of.more ? Floats::add(Floats::load(to), s[p][o]) : s[p][o]);
    }
}

// Sums, weights and inputs fill the registers with two vectors of outputs: those of one group, or of two.
constexpr std::int64_t k_groups_at_once = 2 / k_vectors;

void multiply(const DirectProducts& of) {
  if constexpr (k_groups_at_once == 1) {
    products_of<2>(of, k_lanes);
  } else {
    of.groups == 1 ? products_of<1>(of, 0) : products_of<2>(of, of.taps * of.depth * k_outputs);
  }
}

template <Activation activation, bool before, bool after>
void finish_whole(const DirectResults& of) {
  for (std::int64_t p = 0; p < of.pixels; ++p)
#pragma GCC unroll 2
    for (std::int64_t c = 0; c < k_outputs; c += k_lanes) {
      const std::int64_t at = p * of.y_stride + c;
      Vector sum =
          Floats::add(Floats::load(of.sums + p * of.stride + c), Floats::load(of.bias + c));
      if (before) sum = Floats::add(sum, Floats::load(of.add + at));
      sum = activated<activation>(sum);
      Floats::store(of.y + at, after ? Floats::add(sum, Floats::load(of.after + at)) : sum);
    }
}

// Fewer than k_outputs channels. Stores by a mask take several times as long as whole ones.
template <Activation activation>
void finish_part(const DirectResults& of) {
  for (std::int64_t p = 0; p < of.pixels; ++p)
    for (std::int64_t c = 0; c < of.outputs; c += k_lanes) {
      const std::int64_t at = p * of.y_stride + c, left = of.outputs - c;
      Vector sum =
          Floats::add(Floats::load(of.sums + p * of.stride + c), Floats::load(of.bias + c));
      if (of.add != nullptr) sum = Floats::add(sum, Floats::load_part(of.add + at, left));
      sum = activated<activation>(sum);
      if (of.after != nullptr) sum = Floats::add(sum, Floats::load_part(of.after + at, left));
      Floats::store_part(of.y + at, left, sum);
    }
}

template <Activation activation>
void finish_with(const DirectResults& of) {
  if (of.outputs < k_outputs) return finish_part<activation>(of);
  if (of.after != nullptr)
    return of.add != nullptr ? finish_whole<activation, true, true>(of)
                             : finish_whole<activation, false, true>(of);
  of.add != nullptr ? finish_whole<activation, true, false>(of)
                    : finish_whole<activation, false, false>(of);
}

void finish(const DirectResults& results, Activation activation) {
  switch (activation) {
    case Activation::none:
      return finish_with<Activation::none>(results);
    case Activation::relu:
      return finish_with<Activation::relu>(results);
    case Activation::silu:
      return finish_with<Activation::silu>(results);
  }
}

constexpr DirectSteps k_steps{k_groups_at_once, multiply, finish};

}  // namespace
}  // namespace navtalk::kernels
