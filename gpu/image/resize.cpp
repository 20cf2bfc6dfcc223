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

struct Linear {
  using Value = std::int16_t;
  static constexpr int k_taps = 2;

  static Value kept(int sum) { return static_cast<Value>(sum >> 4); }

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

  static Value kept(int sum) { return sum; }

  NAVTALK_SIMD static void vertical(const Value* const* rows, const int* weight, int count,
                                    std::uint8_t* out) {
    // Copies, since bytes may alias anything, `rows` and `weight` too.
    const Value* row[k_taps];
    int w[k_taps];
    for (int k = 0; k < k_taps; ++k) {
      row[k] = rows[k];
      w[k] = weight[k];
    }
    for (int i = 0; i < count; ++i) {
      Value sum = 1 << 21;
      for (int k = 0; k < k_taps; ++k) sum += w[k] * row[k][i];
      out[i] = static_cast<std::uint8_t>(std::clamp(sum >> 22, 0, 255));
    }
  }
};

// `fixed` is the number of channels where the compiler may know it, else 0.
template <class Filter, int fixed>
void horizontal(const std::uint8_t* source, const ResizeTaps& taps, int width, int any_channels,
                typename Filter::Value* out) {
  const int channels = fixed > 0 ? fixed : any_channels;
  const int* index = taps.index.data();
  const int* weight = taps.weight.data();
  for (int x = 0; x < width; ++x, index += Filter::k_taps, weight += Filter::k_taps) {
    // Copies, since `out` could overlap what the pointers lead to.
    const std::uint8_t* pixel[Filter::k_taps];
    int w[Filter::k_taps];
    for (int k = 0; k < Filter::k_taps; ++k) {
      pixel[k] = source + index[k] * channels;
      w[k] = weight[k];
    }
    for (int c = 0; c < channels; ++c) {
      int sum = 0;
      for (int k = 0; k < Filter::k_taps; ++k) sum += w[k] * pixel[k][c];
      *out++ = Filter::kept(sum);
    }
  }
}

template <class Filter>
void horizontal(const std::uint8_t* source, const ResizeTaps& taps, ImageView destination,
                typename Filter::Value* out) {
  const int width = destination.width, channels = destination.channels;
  if (channels == 3) return horizontal<Filter, 3>(source, taps, width, 3, out);
  if (channels == 1) return horizontal<Filter, 1>(source, taps, width, 1, out);
  horizontal<Filter, 0>(source, taps, width, channels, out);
}

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
      Value* filtered = ring.data() + static_cast<std::ptrdiff_t>(place) * count;
      if (held[place] != row) horizontal<Filter>(source.row(row), across, destination, filtered);
      held[place] = row;
      rows[k] = filtered;
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
