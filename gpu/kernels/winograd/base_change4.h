// The changes of base of Winograd's F(4x4, 3x3) over vectors of any width, as base_change.h has those of the smaller ones.
// Only for the steps of one instruction set each: all of it has internal linkage. `V` is a vector with +, - and *.
#pragma once

namespace navtalk::kernels {
namespace {

constexpr float k_a = 0.625F, k_b = 1.25F;  // the points are 0, a, -a, b, -b and infinity

// Six lines of a patch to six positions: B. `of` makes a vector of one number.
template <class V, class Of>
inline void to_positions4(const V* d, V* v, const Of& of) {
  constexpr float aa = k_a * k_a, bb = k_b * k_b;
  const V even_a = d[4] - of(bb) * d[2], odd_a = of(k_a) * (d[3] - of(bb) * d[1]);
  const V even_b = d[4] - of(aa) * d[2], odd_b = of(k_b) * (d[3] - of(aa) * d[1]);
  v[0] = of(aa * bb) * d[0] - of(aa + bb) * d[2] + d[4];
  v[1] = even_a + odd_a;
  v[2] = even_a - odd_a;
  v[3] = even_b + odd_b;
  v[4] = even_b - odd_b;
  v[5] = of(aa * bb) * d[1] - of(aa + bb) * d[3] + d[5];
}

// Six lines of products to four of pixels: A.
template <class V, class Of>
inline void to_pixels4(const V* m, V* y, const Of& of) {
  constexpr float aa = k_a * k_a, bb = k_b * k_b;
  const V sum_a = m[1] + m[2], gap_a = m[1] - m[2];
  const V sum_b = m[3] + m[4], gap_b = m[3] - m[4];
  y[0] = m[0] + sum_a + sum_b;
  y[1] = of(k_a) * gap_a + of(k_b) * gap_b;
  y[2] = of(aa) * sum_a + of(bb) * sum_b;
  y[3] = of(aa * k_a) * gap_a + of(bb * k_b) * gap_b + m[5];
}

}  // namespace
}  // namespace navtalk::kernels
