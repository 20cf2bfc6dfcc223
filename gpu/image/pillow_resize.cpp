#include "gpu/image/pillow_resize.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace navtalk {
namespace {

constexpr int k_bits = 22;  // of the fraction of a weight

double filter_at(PillowFilter filter, double x) {
  x = std::abs(x);
  if (filter == PillowFilter::bilinear) return x < 1 ? 1 - x : 0;
  constexpr double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

// What one output pixel is made of: whole weights of the input's pixels from `first` on.
struct Taps {
  int first = 0;
  std::vector<std::int64_t> weights;
};

std::vector<Taps> taps_of(int in, int out, PillowFilter filter) {
  const double scale = static_cast<double>(in) / out, stretch = std::max(1.0, scale);
  const double support = (filter == PillowFilter::bilinear ? 1.0 : 2.0) * stretch;
  std::vector<Taps> all;
  all.reserve(static_cast<std::size_t>(out));
  for (int i = 0; i < out; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(centre - support + 0.5));
    const int end = std::min(in, static_cast<int>(centre + support + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (int j = first; j < end; ++j) {
      weights.push_back(filter_at(filter, (j - centre + 0.5) * (1 / stretch)));
      sum += weights.back();
    }
    Taps& taps = all.emplace_back(Taps{first, {}});
    for (const double weight : weights)
      taps.weights.push_back(std::llround((sum == 0 ? weight : weight / sum) * (1 << k_bits)));
  }
  return all;
}

std::uint8_t rounded(std::int64_t sum) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> k_bits, 0, 255));
}

// `step`: bytes from one pixel of the axis to the next.
std::int64_t weighted(const Taps& taps, const std::uint8_t* first, std::ptrdiff_t step) {
  std::int64_t sum = std::int64_t{1} << (k_bits - 1);
  for (const std::int64_t weight : taps.weights) {
    sum += weight * *first;
    first += step;
  }
  return sum;
}

void resize_columns(ConstImageView source, ImageView out, PillowFilter filter) {
  const std::vector<Taps> taps = taps_of(source.width, out.width, filter);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const Taps& own = taps[static_cast<std::size_t>(x)];
      for (int k = 0; k < out.channels; ++k)
        out.at(x, y)[k] = rounded(weighted(own, source.at(own.first, y) + k, source.channels));
    }
}

void resize_rows(ConstImageView source, ImageView out, PillowFilter filter) {
  const std::vector<Taps> taps = taps_of(source.height, out.height, filter);
  for (int y = 0; y < out.height; ++y) {
    const Taps& own = taps[static_cast<std::size_t>(y)];
    for (int i = 0; i < out.width * out.channels; ++i)
      out.row(y)[i] = rounded(weighted(own, source.row(own.first) + i, source.stride));
  }
}

}  // namespace

void pillow_resize(ConstImageView source, ImageView destination, PillowFilter filter) {
  NAVTALK_CHECK(source.channels == destination.channels);
  NAVTALK_CHECK(source.width > 0 && source.height > 0);
  Image wide;  // the destination's width, the source's height
  if (source.width != destination.width) {
    wide = Image(destination.width, source.height, source.channels);
    resize_columns(source, wide.view(), filter);
    source = std::as_const(wide).view();
  }
  if (source.height != destination.height) return resize_rows(source, destination, filter);
  for (int y = 0; y < source.height; ++y)
    std::copy_n(source.row(y), source.width * source.channels, destination.row(y));
}

}  // namespace navtalk
