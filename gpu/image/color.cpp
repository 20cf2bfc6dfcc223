// Two rows at a time, split into planes first, so that the arithmetic is straight loops:
//
//   B G R B G R ...  ->  b[], g[], r[]  ->  y[] for each row, u[] and v[] for the pair
//
// Weights are in 1/2^14; 255 times the largest, or four times that for a chroma sum, fits 32 bits.
#include "gpu/image/color.h"

#include <algorithm>
#include <vector>

#include "gpu/image/simd.h"

namespace navtalk {
namespace {

constexpr int k_shift = 14;
constexpr int k_half = 1 << (k_shift - 1);

constexpr int fixed_point(double value) {
  return static_cast<int>(value * (1 << k_shift) + (value < 0 ? -0.5 : 0.5));
}

// ITU-R BT.709: Y' = 0.2126 R + 0.7152 G + 0.0722 B, Cb = (B - Y') / 1.8556, Cr = (R - Y')
// / 1.5748.
constexpr double k_red = 0.2126, k_green = 0.7152, k_blue = 0.0722;
constexpr double k_luma = 219.0 / 255, k_chroma = 224.0 / 255;
constexpr double k_cb = 1.8556, k_cr = 1.5748;

// The third weight of each chroma row makes the sum zero, so that grey has no colour.
constexpr int k_y_r = fixed_point(k_luma * k_red), k_y_b = fixed_point(k_luma * k_blue);
constexpr int k_y_g = fixed_point(k_luma) - k_y_r - k_y_b;
constexpr int k_u_r = fixed_point(-k_chroma * k_red / k_cb);
constexpr int k_u_g = fixed_point(-k_chroma * k_green / k_cb), k_u_b = -k_u_r - k_u_g;
constexpr int k_v_g = fixed_point(-k_chroma * k_green / k_cr);
constexpr int k_v_b = fixed_point(-k_chroma * k_blue / k_cr), k_v_r = -k_v_g - k_v_b;

constexpr int k_from_y = fixed_point(1 / k_luma);
constexpr int k_b_u = fixed_point(k_cb / k_chroma), k_r_v = fixed_point(k_cr / k_chroma);
constexpr int k_g_u = fixed_point(-k_cb * k_blue / k_green / k_chroma);
constexpr int k_g_v = fixed_point(-k_cr * k_red / k_green / k_chroma);

struct Planes {
  explicit Planes(int width)
      : bytes(static_cast<std::size_t>(width) * 3), b(bytes.data()), g(b + width), r(g + width) {}
  std::vector<std::uint8_t> bytes;
  std::uint8_t *b, *g, *r;
};

NAVTALK_SIMD void split_planes(const std::uint8_t* __restrict bgr, int width,
                               std::uint8_t* __restrict b, std::uint8_t* __restrict g,
                               std::uint8_t* __restrict r) {
  for (int x = 0; x < width; ++x) {
    b[x] = bgr[3 * x];
    g[x] = bgr[3 * x + 1];
    r[x] = bgr[3 * x + 2];
  }
}

NAVTALK_SIMD void luma_row(const std::uint8_t* __restrict b, const std::uint8_t* __restrict g,
                           const std::uint8_t* __restrict r, int width,
                           std::uint8_t* __restrict y) {
  for (int x = 0; x < width; ++x)
    y[x] = static_cast<std::uint8_t>(
        (k_y_b * b[x] + k_y_g * g[x] + k_y_r * r[x] + (16 << k_shift) + k_half) >> k_shift);
}

// Sums of 2x2 pixels in, their mean's chroma out: the two extra bits of the sum go with the shift.
NAVTALK_SIMD void chroma_row(const std::uint16_t* __restrict b, const std::uint16_t* __restrict g,
                             const std::uint16_t* __restrict r, int width,
                             std::uint8_t* __restrict u, std::uint8_t* __restrict v) {
  constexpr int k_offset = (128 << (k_shift + 2)) + (k_half << 2);
  for (int x = 0; x < width; ++x) {
    u[x] = static_cast<std::uint8_t>((k_u_b * b[x] + k_u_g * g[x] + k_u_r * r[x] + k_offset) >>
                                     (k_shift + 2));
    v[x] = static_cast<std::uint8_t>((k_v_b * b[x] + k_v_g * g[x] + k_v_r * r[x] + k_offset) >>
                                     (k_shift + 2));
  }
}

NAVTALK_SIMD void sum_2x2(const std::uint8_t* __restrict upper,
                          const std::uint8_t* __restrict lower, int half_width,
                          std::uint16_t* __restrict sum) {
  for (int x = 0; x < half_width; ++x)
    sum[x] = static_cast<std::uint16_t>(upper[2 * x] + upper[2 * x + 1] + lower[2 * x] +
                                        lower[2 * x + 1]);
}

// first and second may be the same row.
NAVTALK_SIMD void interleave(const std::uint8_t* first, const std::uint8_t* second, int width,
                             std::uint8_t* __restrict out) {
  for (int x = 0; x < width; ++x) {
    out[2 * x] = first[x];
    out[2 * x + 1] = second[x];
  }
}

NAVTALK_SIMD void separate(const std::uint8_t* __restrict uv, int width, std::uint8_t* __restrict u,
                           std::uint8_t* __restrict v) {
  for (int x = 0; x < width; ++x) {
    u[x] = uv[2 * x];
    v[x] = uv[2 * x + 1];
  }
}

// u and v have a value for each pixel here.
NAVTALK_SIMD void planes_row(const std::uint8_t* __restrict y, const std::uint8_t* __restrict u,
                             const std::uint8_t* __restrict v, int width,
                             std::uint8_t* __restrict b, std::uint8_t* __restrict g,
                             std::uint8_t* __restrict r) {
  for (int x = 0; x < width; ++x) {
    const int luma = k_from_y * (y[x] - 16) + k_half, cb = u[x] - 128, cr = v[x] - 128;
    b[x] = static_cast<std::uint8_t>(std::clamp((luma + k_b_u * cb) >> k_shift, 0, 255));
    g[x] =
        static_cast<std::uint8_t>(std::clamp((luma + k_g_u * cb + k_g_v * cr) >> k_shift, 0, 255));
    r[x] = static_cast<std::uint8_t>(std::clamp((luma + k_r_v * cr) >> k_shift, 0, 255));
  }
}

NAVTALK_SIMD void put_together(const std::uint8_t* __restrict b, const std::uint8_t* __restrict g,
                               const std::uint8_t* __restrict r, int width,
                               std::uint8_t* __restrict bgr) {
  for (int x = 0; x < width; ++x) {
    bgr[3 * x] = b[x];
    bgr[3 * x + 1] = g[x];
    bgr[3 * x + 2] = r[x];
  }
}

void check_even(int width, int height, int channels) {
  NAVTALK_CHECK(channels == 3 && width > 0 && height > 0 && width % 2 == 0 && height % 2 == 0);
}

// Calls chroma(row, u, v) with each chroma row in planes; luma goes straight to its place.
template <class ChromaSink>
void to_yuv(ConstImageView bgr, std::uint8_t* luma, const ChromaSink& chroma) {
  check_even(bgr.width, bgr.height, bgr.channels);
  const int half = bgr.width / 2;
  Planes upper(bgr.width), lower(bgr.width);
  std::vector<std::uint16_t> sums(static_cast<std::size_t>(half) * 3);
  std::uint16_t *b = sums.data(), *g = b + half, *r = g + half;
  std::vector<std::uint8_t> u(static_cast<std::size_t>(half)), v(u.size());
  for (int y = 0; y < bgr.height; y += 2, luma += 2 * bgr.width) {
    split_planes(bgr.row(y), bgr.width, upper.b, upper.g, upper.r);
    split_planes(bgr.row(y + 1), bgr.width, lower.b, lower.g, lower.r);
    luma_row(upper.b, upper.g, upper.r, bgr.width, luma);
    luma_row(lower.b, lower.g, lower.r, bgr.width, luma + bgr.width);
    sum_2x2(upper.b, lower.b, half, b);
    sum_2x2(upper.g, lower.g, half, g);
    sum_2x2(upper.r, lower.r, half, r);
    chroma_row(b, g, r, half, u.data(), v.data());
    chroma(y / 2, u.data(), v.data());
  }
}

// The way back: chroma(row, u, v) fetches a chroma row, which two picture rows use.
template <class ChromaSource>
void from_yuv(const std::uint8_t* luma, ImageView bgr, const ChromaSource& chroma) {
  check_even(bgr.width, bgr.height, bgr.channels);
  const int half = bgr.width / 2;
  Planes colours(bgr.width);
  std::vector<std::uint8_t> u(static_cast<std::size_t>(half)), v(u.size());
  std::vector<std::uint8_t> wide_u(static_cast<std::size_t>(bgr.width)), wide_v(wide_u.size());
  for (int y = 0; y < bgr.height; ++y, luma += bgr.width) {
    if (y % 2 == 0) {
      chroma(y / 2, u.data(), v.data());
      interleave(u.data(), u.data(), half, wide_u.data());
      interleave(v.data(), v.data(), half, wide_v.data());
    }
    planes_row(luma, wide_u.data(), wide_v.data(), bgr.width, colours.b, colours.g, colours.r);
    put_together(colours.b, colours.g, colours.r, bgr.width, bgr.row(y));
  }
}

}  // namespace

void bgr_to_i420(ConstImageView bgr, std::uint8_t* i420) {
  const std::size_t half = static_cast<std::size_t>(bgr.width) / 2;
  const std::size_t pixels = static_cast<std::size_t>(bgr.width) * bgr.height;
  std::uint8_t *u_plane = i420 + pixels, *v_plane = u_plane + pixels / 4;
  to_yuv(bgr, i420, [&](int row, const std::uint8_t* u, const std::uint8_t* v) {
    std::copy_n(u, half, u_plane + row * half);
    std::copy_n(v, half, v_plane + row * half);
  });
}

void bgr_to_nv12(ConstImageView bgr, std::uint8_t* nv12) {
  std::uint8_t* uv_plane = nv12 + static_cast<std::size_t>(bgr.width) * bgr.height;
  to_yuv(bgr, nv12, [&](int row, const std::uint8_t* u, const std::uint8_t* v) {
    interleave(u, v, bgr.width / 2, uv_plane + static_cast<std::ptrdiff_t>(row) * bgr.width);
  });
}

void i420_to_bgr(const std::uint8_t* i420, ImageView bgr) {
  const std::ptrdiff_t half = bgr.width / 2;
  const std::uint8_t* u_plane = i420 + static_cast<std::ptrdiff_t>(bgr.width) * bgr.height;
  const std::uint8_t* v_plane = u_plane + half * (bgr.height / 2);
  from_yuv(i420, bgr, [&](int row, std::uint8_t* u, std::uint8_t* v) {
    std::copy_n(u_plane + row * half, half, u);
    std::copy_n(v_plane + row * half, half, v);
  });
}

void nv12_to_bgr(const std::uint8_t* nv12, ImageView bgr) {
  const std::uint8_t* uv_plane = nv12 + static_cast<std::ptrdiff_t>(bgr.width) * bgr.height;
  from_yuv(nv12, bgr, [&](int row, std::uint8_t* u, std::uint8_t* v) {
    separate(uv_plane + static_cast<std::ptrdiff_t>(row) * bgr.width, bgr.width / 2, u, v);
  });
}

void bgr_to_i420(ConstBatchView bgr, std::uint8_t* i420) {
  for (int n = 0; n < bgr.count; ++n)
    bgr_to_i420(bgr[n], i420 + n * yuv420_bytes(bgr.width, bgr.height));
}

void bgr_to_nv12(ConstBatchView bgr, std::uint8_t* nv12) {
  for (int n = 0; n < bgr.count; ++n)
    bgr_to_nv12(bgr[n], nv12 + n * yuv420_bytes(bgr.width, bgr.height));
}

void i420_to_bgr(const std::uint8_t* i420, BatchView bgr) {
  for (int n = 0; n < bgr.count; ++n)
    i420_to_bgr(i420 + n * yuv420_bytes(bgr.width, bgr.height), bgr[n]);
}

void nv12_to_bgr(const std::uint8_t* nv12, BatchView bgr) {
  for (int n = 0; n < bgr.count; ++n)
    nv12_to_bgr(nv12 + n * yuv420_bytes(bgr.width, bgr.height), bgr[n]);
}

}  // namespace navtalk
