// Two passes. A source row is filtered horizontally once and kept while it is among the taps of the
// rows that follow:
//
//   source rows  --horizontal, 11-bit weights-->  ring of 2 or 8 rows  --vertical-->  destination
//
// Linear keeps 16 bits between the passes (OpenCV drops four bits there), Lanczos 32.
#include "gpu/image/resize.h"

#include <algorithm>
#include <cstring>

#include "gpu/image/resize_taps.h"
#include "gpu/image/simd.h"

namespace navtalk {
namespace {

void copy(ConstImageView source, ImageView destination) {
  const auto bytes = static_cast<std::size_t>(destination.width) * destination.channels;
  for (int y = 0; y < destination.height; ++y)
    std::memcpy(destination.row(y), source.row(y), bytes);
}

template <int k_channels>
void linear_row_fixed(const std::uint8_t* source, const ResizeTaps& taps, int width,
                      std::int16_t* out) {
  const int* index = taps.index.data();
  const int* weight = taps.weight.data();
  for (int x = 0; x < width; ++x, index += 2, weight += 2, out += k_channels) {
    const std::uint8_t* left = source + index[0] * k_channels;
    const std::uint8_t* right = source + index[1] * k_channels;
    for (int c = 0; c < k_channels; ++c)
      out[c] = static_cast<std::int16_t>((weight[0] * left[c] + weight[1] * right[c]) >> 4);
  }
}

struct Linear {
  using Value = std::int16_t;
  static constexpr int k_taps = 2;

  static void horizontal(const std::uint8_t* source, const ResizeTaps& taps, int width,
                         int channels, Value* out) {
    if (channels == 3) return linear_row_fixed<3>(source, taps, width, out);
    if (channels == 1) return linear_row_fixed<1>(source, taps, width, out);
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const int left = source[taps.index[2 * x] * channels + c];
        const int right = source[taps.index[2 * x + 1] * channels + c];
        out[x * channels + c] =
            static_cast<Value>((taps.weight[2 * x] * left + taps.weight[2 * x + 1] * right) >> 4);
      }
  }

  NAVTALK_SIMD static void vertical(const Value* const* rows, const int* weight, int count,
                                    std::uint8_t* out) {
    const Value *upper = rows[0], *lower = rows[1];
    const auto w0 = static_cast<Value>(weight[0]), w1 = static_cast<Value>(weight[1]);
    for (int i = 0; i < count; ++i) {
      const int sum = ((w0 * upper[i]) >> 16) + ((w1 * lower[i]) >> 16);
      out[i] = static_cast<std::uint8_t>((sum + 2) >> 2);
    }
  }
};

struct Lanczos {
  using Value = std::int32_t;
  static constexpr int k_taps = 8;

  static void horizontal(const std::uint8_t* source, const ResizeTaps& taps, int width,
                         int channels, Value* out) {
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        Value sum = 0;
        for (int k = 0; k < k_taps; ++k)
          sum += taps.weight[x * k_taps + k] * source[taps.index[x * k_taps + k] * channels + c];
        out[x * channels + c] = sum;
      }
  }

  NAVTALK_SIMD static void vertical(const Value* const* rows, const int* weight, int count,
                                    std::uint8_t* out) {
    for (int i = 0; i < count; ++i) {
      Value sum = 1 << 21;
      for (int k = 0; k < k_taps; ++k) sum += weight[k] * rows[k][i];
      out[i] = static_cast<std::uint8_t>(std::clamp(sum >> 22, 0, 255));
    }
  }
};

template <class Filter>
void run(ConstImageView source, const ResizeTaps& across, const ResizeTaps& down,
         ImageView destination) {
  using Value = typename Filter::Value;
  const int count = destination.width * destination.channels;
  std::vector<Value> ring(static_cast<std::size_t>(count) * Filter::k_taps);
  std::vector<int> held(Filter::k_taps, -1);  // which source row a ring row holds
  std::vector<const Value*> rows(Filter::k_taps);
  for (int y = 0; y < destination.height; ++y) {
    for (int k = 0; k < Filter::k_taps; ++k) {
      const int row = down.index[y * Filter::k_taps + k];
      // The taps are neighbours, so no two of them share a place in the ring.
      const int place = row % Filter::k_taps;
      Value* kept = ring.data() + static_cast<std::ptrdiff_t>(place) * count;
      if (held[place] != row)
        Filter::horizontal(source.row(row), across, destination.width, destination.channels, kept);
      held[place] = row;
      rows[k] = kept;
    }
    Filter::vertical(rows.data(), down.weight.data() + y * Filter::k_taps, count,
                     destination.row(y));
  }
}

}  // namespace

void resize_part(ConstImageView source, int width, int height, const Box& part,
                 ImageView destination, Interpolation interpolation) {
  NAVTALK_CHECK(source.width > 0 && source.height > 0 && source.channels == destination.channels);
  NAVTALK_CHECK(!part.empty() && part.x1 >= 0 && part.y1 >= 0 && part.x2 <= width &&
                part.y2 <= height);
  NAVTALK_CHECK(destination.width == part.width() && destination.height == part.height());
  if (source.width == width && source.height == height) return copy(source.crop(part), destination);
  const ResizeTaps across =
      resize_taps(interpolation, Axis::horizontal, source.width, width, part.x1, part.x2);
  const ResizeTaps down =
      resize_taps(interpolation, Axis::vertical, source.height, height, part.y1, part.y2);
  if (interpolation == Interpolation::linear)
    run<Linear>(source, across, down, destination);
  else
    run<Lanczos>(source, across, down, destination);
}

void resize(ConstImageView source, ImageView destination, Interpolation interpolation) {
  resize_part(source, destination.width, destination.height,
              {0, 0, destination.width, destination.height}, destination, interpolation);
}

void resize(ConstBatchView source, BatchView destination, Interpolation interpolation) {
  for_each_image(source, destination,
                 [&](ConstImageView from, ImageView to) { resize(from, to, interpolation); });
}

}  // namespace navtalk
