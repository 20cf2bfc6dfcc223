#include "gpu/image/gaussian_blur.h"

#include <algorithm>
#include <cmath>

#include "gpu/image/simd.h"

namespace navtalk {
namespace {

// ... 2 1 | 0 1 2 ... n-1 | n-2 ...; repeatedly where the image is narrower than the reach.
int reflect(int i, int n) {
  if (n == 1) return 0;
  const int period = 2 * (n - 1);
  const int phase = ((i % period) + period) % period;
  return phase < n ? phase : period - phase;
}

// `row` with `reach` reflected pixels on either side.
void pad_row(ConstImageView source, int y, int reach, std::uint8_t* padded) {
  const std::uint8_t* row = source.row(y);
  const int channels = source.channels;
  for (int x = -reach; x < 0; ++x)
    padded = std::copy_n(row + reflect(x, source.width) * channels, channels, padded);
  padded = std::copy_n(row, source.width * channels, padded);
  for (int x = source.width; x < source.width + reach; ++x)
    padded = std::copy_n(row + reflect(x, source.width) * channels, channels, padded);
}

// out[i] = sum of taps[k] * padded[i + k * channels]; at most 255 * 256, so 16 bits hold it.
NAVTALK_SIMD void horizontal(const std::uint8_t* padded, const int* taps, int size, int channels,
                             int count, std::uint16_t* out) {
  const int reach = size / 2;
  const std::uint8_t* centre = padded + reach * channels;
  for (int i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(taps[reach] * centre[i]);
  for (int k = 0; k < reach; ++k) {
    const auto tap = static_cast<std::uint16_t>(taps[k]);
    const std::uint8_t* before = padded + k * channels;
    const std::uint8_t* after = padded + (size - 1 - k) * channels;
    for (int i = 0; i < count; ++i)
      out[i] = static_cast<std::uint16_t>(out[i] + tap * (before[i] + after[i]));
  }
}

NAVTALK_SIMD void vertical(const std::uint16_t* const* rows, const int* taps, int size, int count,
                           std::uint32_t* sum, std::uint8_t* out) {
  const int reach = size / 2;
  for (int i = 0; i < count; ++i)
    sum[i] = (1U << 15) + static_cast<std::uint32_t>(taps[reach]) * rows[reach][i];
  for (int k = 0; k < reach; ++k) {
    const auto tap = static_cast<std::uint32_t>(taps[k]);
    const std::uint16_t *before = rows[k], *after = rows[size - 1 - k];
    for (int i = 0; i < count; ++i) sum[i] += tap * (std::uint32_t{before[i]} + after[i]);
  }
  for (int i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(sum[i] >> 16);
}

}  // namespace

std::vector<int> gaussian_taps(int size, double sigma) {
  NAVTALK_CHECK(size > 0 && size % 2 == 1);
  if (sigma <= 0 && size == 3) return {64, 128, 64};
  if (sigma <= 0 && size == 5) return {16, 64, 96, 64, 16};
  if (sigma <= 0 && size == 7) return {8, 28, 56, 72, 56, 28, 8};
  const double width = sigma > 0 ? sigma : 0.3 * ((size - 1) * 0.5 - 1) + 0.8;
  const int centre = size / 2;
  std::vector<double> exact(static_cast<std::size_t>(size));
  double total = 0;
  for (int i = 0; i < size; ++i) {
    const double distance = i - centre;
    exact[i] = std::exp(-distance * distance / (2 * width * width));
    total += exact[i];
  }
  // From the outer tap inward, each tap takes up what rounding the ones before it left over.
  std::vector<int> taps(static_cast<std::size_t>(size));
  double error = 0;
  int outer = 0;
  for (int i = 0; i < centre; ++i) {
    const double wanted = exact[i] / total * 256.0 + error;
    taps[i] = taps[size - 1 - i] = static_cast<int>(std::lrint(wanted));
    error = wanted - taps[i];
    outer += taps[i];
  }
  taps[centre] = 256 - 2 * outer;
  return taps;
}

void gaussian_blur(ConstImageView source, ImageView destination, int size, double sigma) {
  NAVTALK_CHECK(source.width == destination.width && source.height == destination.height &&
                source.channels == destination.channels);
  const std::vector<int> taps = gaussian_taps(size, sigma);
  const int reach = size / 2;
  const int count = source.width * source.channels;
  std::vector<std::uint8_t> padded(static_cast<std::size_t>(source.width + 2 * reach) *
                                   source.channels);
  std::vector<std::uint32_t> sum(static_cast<std::size_t>(count));
  // A row filtered horizontally is used by up to `size` rows, and by no others.
  const int kept = std::min(size, source.height);
  std::vector<std::uint16_t> ring(static_cast<std::size_t>(kept) * count);
  std::vector<const std::uint16_t*> rows(static_cast<std::size_t>(size));
  int done = 0;
  for (int y = 0; y < source.height; ++y) {
    for (; done < std::min(y + reach + 1, source.height); ++done) {
      pad_row(source, done, reach, padded.data());
      horizontal(padded.data(), taps.data(), size, source.channels, count,
                 ring.data() + static_cast<std::ptrdiff_t>(done % kept) * count);
    }
    for (int k = 0; k < size; ++k)
      rows[k] = ring.data() +
                static_cast<std::ptrdiff_t>(reflect(y + k - reach, source.height) % kept) * count;
    vertical(rows.data(), taps.data(), size, count, sum.data(), destination.row(y));
  }
}

void gaussian_blur(ConstBatchView source, BatchView destination, int size, double sigma) {
  for_each_image(source, destination,
                 [&](ConstImageView from, ImageView to) { gaussian_blur(from, to, size, sigma); });
}

}  // namespace navtalk
