// How Winograd's algorithm (Lavin and Gray, 2015) computes the convolutions of tiled_conv.h, over vectors of any width. Only for
// sources of one instruction set each: what makes vectors has internal linkage. `V` is a vector with +, - and *; `of` makes one of a number.
//
// Along each axis the k_patch pixels under a tile become k_positions numbers; each is multiplied by one of k_weights combinations
// of the kernel's k_taps; the products become k_pixels results. Tiles are k_step pixels apart, and their patches begin k_before
// pixels before them. A tiling comes from the values of a polynomial at a few points, which are chosen so that fp32 rounds little:
// the usual ones (0, 1, -1, 2, -2, infinity) round twice as much in F(4, 3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace navtalk::kernels {
namespace {

// The weights for all points but infinity: point p has 1/N(p) (1, p, p^2, ...), where N(p) is the product of its distances to the
// other points. Infinity has the last tap alone.
template <std::size_t points, std::size_t taps>
constexpr std::array<std::array<float, taps>, points + 1> weights_at(
    const std::array<double, points>& at) {
  std::array<std::array<float, taps>, points + 1> g{};
  for (std::size_t i = 0; i < points; ++i) {
    double value = 1;
    for (std::size_t j = 0; j < points; ++j)
      if (j != i) value /= at[i] - at[j];
    for (std::size_t k = 0; k < taps; ++k, value *= at[i]) g[i][k] = static_cast<float>(value);
  }
  g[points][taps - 1] = 1;
  return g;
}

// F(4, 3): four pixels of a kernel of three, with 6 products instead of 12.
struct FourOfThree {
  static constexpr int k_taps = 3, k_patch = 6, k_positions = 6, k_weights = 6, k_pixels = 4;
  static constexpr int k_step = 4, k_before = 1;
  static constexpr float k_a = 0.625F, k_b = 1.25F;  // the points are 0, a, -a, b, -b and infinity
  static constexpr std::array<std::array<float, 3>, 6> k_g =
      weights_at<5, 3>({0, k_a, -k_a, k_b, -k_b});
  static constexpr int weight_of(int position) { return position; }

  template <class V, class Of>
  static inline void to_positions(const V* d, V* v, const Of& of) {
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
  template <class V, class Of>
  static inline void to_pixels(const V* m, V* y, const Of& of) {
    constexpr float aa = k_a * k_a, bb = k_b * k_b;
    const V sum_a = m[1] + m[2], gap_a = m[1] - m[2];
    const V sum_b = m[3] + m[4], gap_b = m[3] - m[4];
    y[0] = m[0] + sum_a + sum_b;
    y[1] = of(k_a) * gap_a + of(k_b) * gap_b;
    y[2] = of(aa) * sum_a + of(bb) * sum_b;
    y[3] = of(aa * k_a) * gap_a + of(bb * k_b) * gap_b + m[5];
  }
};

// Four pixels of a kernel of three that moves by two, with 9 products instead of 12. Every other pixel lies under the middle tap
// alone, and is taken as it is; those between lie under the outer two, for which F(4, 2) has five points.
struct FourOfThreeHalving {
  static constexpr int k_taps = 3, k_patch = 9, k_positions = 9, k_weights = 6, k_pixels = 4;
  static constexpr int k_step = 8, k_before = 1;
  static constexpr float k_a = 0.625F, k_b = 1.5F;  // the points are 0, a, -a, b and infinity
  static constexpr std::array<std::array<float, 3>, 6> k_g = [] {
    const auto outer = weights_at<4, 2>({0, k_a, -k_a, k_b});
    std::array<std::array<float, 3>, 6> g{};
    for (std::size_t i = 0; i < 5; ++i) g[i] = {outer[i][0], 0, outer[i][1]};
    g[5] = {0, 1, 0};
    return g;
  }();
  // Those of the middle tap come last, and have one weight.
  static constexpr int weight_of(int position) { return position < 5 ? position : 5; }

  template <class V, class Of>
  static inline void to_positions(const V* d, V* v, const Of& of) {
    constexpr float aa = k_a * k_a;
    const V even = d[6] - of(k_b) * d[4], odd = of(k_a) * (d[4] - of(k_b) * d[2]);
    const V by_b = d[4] - of(aa) * d[0];
    v[0] = d[6] - of(aa) * d[2] - of(k_b) * by_b;
    v[1] = even + odd;
    v[2] = even - odd;
    v[3] = d[6] - of(aa) * d[2];
    v[4] = d[8] - of(aa) * d[4] - of(k_b) * v[3];
    for (int i = 0; i < 4; ++i) v[5 + i] = d[2 * i + 1];
  }
  template <class V, class Of>
  static inline void to_pixels(const V* m, V* y, const Of& of) {
    constexpr float aa = k_a * k_a, bb = k_b * k_b;
    const V sum = m[1] + m[2], gap = m[1] - m[2];
    y[0] = m[0] + sum + m[3] + m[5];
    y[1] = of(k_a) * gap + of(k_b) * m[3] + m[6];
    y[2] = of(aa) * sum + of(bb) * m[3] + m[7];
    y[3] = of(aa * k_a) * gap + of(bb * k_b) * m[3] + m[4] + m[8];
  }
};

// F(2, 7): two pixels of a kernel of seven, with 8 products instead of 14.
struct TwoOfSeven {
  static constexpr int k_taps = 7, k_patch = 8, k_positions = 8, k_weights = 8, k_pixels = 2;
  static constexpr int k_step = 2, k_before = 3;
  // The points are 0, a, -a, b, -b, c, -c and infinity.
  static constexpr float k_a = 0.5F, k_b = 1.25F, k_c = 2;
  static constexpr std::array<std::array<float, 7>, 8> k_g =
      weights_at<7, 7>({0, k_a, -k_a, k_b, -k_b, k_c, -k_c});
  static constexpr int weight_of(int position) { return position; }

  // The values at p and -p, whose factors are the squares' of the two other pairs of points.
  template <class V, class Of>
  static inline void pair(const V* d, V* v, float p, float q, float r, const Of& of) {
    const float sum = q * q + r * r, product = q * q * r * r;
    const V even = d[6] - of(sum) * d[4] + of(product) * d[2];
    const V odd = of(p) * (d[5] - of(sum) * d[3] + of(product) * d[1]);
    v[0] = even + odd;
    v[1] = even - odd;
  }
  template <class V, class Of>
  static inline void to_positions(const V* d, V* v, const Of& of) {
    constexpr float aa = k_a * k_a, bb = k_b * k_b, cc = k_c * k_c;
    constexpr float one = aa + bb + cc, two = aa * bb + aa * cc + bb * cc, three = aa * bb * cc;
    v[0] = d[6] - of(one) * d[4] + of(two) * d[2] - of(three) * d[0];
    pair(d, v + 1, k_a, k_b, k_c, of);
    pair(d, v + 3, k_b, k_a, k_c, of);
    pair(d, v + 5, k_c, k_a, k_b, of);
    v[7] = d[7] - of(one) * d[5] + of(two) * d[3] - of(three) * d[1];
  }
  template <class V, class Of>
  static inline void to_pixels(const V* m, V* y, const Of& of) {
    y[0] = m[0] + (m[1] + m[2]) + (m[3] + m[4]) + (m[5] + m[6]);
    y[1] = of(k_a) * (m[1] - m[2]) + of(k_b) * (m[3] - m[4]) + of(k_c) * (m[5] - m[6]) + m[7];
  }
};

// The positions of both axes, in the order in which they lie: those that share a weight lie together.
template <class Tiling>
struct PositionOrder {
  static constexpr int k_positions = Tiling::k_positions * Tiling::k_positions;
  static constexpr int k_weights = Tiling::k_weights * Tiling::k_weights;
  std::array<std::array<int, Tiling::k_positions>, Tiling::k_positions> place{};  // [row][column]
  std::array<int, k_weights + 1> first{};  // of those with a weight; the last entry is their number

  constexpr PositionOrder() {
    int next = 0;
    for (int weight = 0; weight < k_weights; ++weight) {
      first[static_cast<std::size_t>(weight)] = next;
      for (int i = 0; i < Tiling::k_positions; ++i)
        for (int j = 0; j < Tiling::k_positions; ++j)
          if (Tiling::weight_of(i) * Tiling::k_weights + Tiling::weight_of(j) == weight)
            place[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = next++;
    }
    first[k_weights] = next;
  }
};
template <class Tiling>
constexpr PositionOrder<Tiling> k_order{};

}  // namespace
}  // namespace navtalk::kernels
