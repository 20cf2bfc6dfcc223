#include "gpu/kernels/winograd/winograd_conv.h"

#include <algorithm>
#include <array>

#include "gpu/kernels/activated_rows.h"
#include "gpu/kernels/bf16.h"
#include "gpu/kernels/parallel.h"
#include "gpu/kernels/scratch.h"
#include "gpu/kernels/winograd/winograd_steps.h"

namespace navtalk::kernels {
namespace {

// Rows of weights to positions: `same` is Lavin and Gray's G, `doubled` splits the taps
// w0 x[i-1] + (w1 + w2) x[i] and (w0 + w1) x[i] + w2 x[i+1] into products of x[i-1] - x[i], x[i]
// and x[i+1] - x[i].
using Taps = std::array<float, 3>;
constexpr std::array<Taps, 4> k_same{{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}};
constexpr std::array<Taps, 3> k_doubled{{{1, 0, 0}, {1, 1, 1}, {0, 0, 1}}};

const Taps& taps(WinogradKind kind, int position) {
  const auto i = static_cast<std::size_t>(position);
  return kind == WinogradKind::same ? k_same[i] : k_doubled[i];
}

// The weight of one position (row, column) for one pair of channels; `w` is its 3x3 kernel.
float position_weight(WinogradKind kind, int row, int column, const float* w) {
  float sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      sum += taps(kind, row)[static_cast<std::size_t>(i)] *
             taps(kind, column)[static_cast<std::size_t>(j)] * w[i * 3 + j];
  return sum;
}

// Those of one format.
template <class T>
const T* weights_of(const WinogradConv& conv) {
  if constexpr (sizeof(T) == 4) {
    return conv.fp32_weights.data();
  } else {
    return conv.bf16_weights.data();
  }
}
template <class T>
const WinogradSteps<T>& steps_of(Isa isa) {
  if constexpr (sizeof(T) == 4) {
    return isa == Isa::portable ? portable_winograd_steps<T>() : avx2_winograd_steps();
  } else {
    return isa == Isa::avx512 ? avx512_winograd_steps() : portable_winograd_steps<T>();
  }
}

// As many tiles as a core's first cache holds together with the weights, if any number does.
std::int64_t tiles_at_once(const WinogradConv& conv) {
  if (conv.format == Format::fp32) return 24;
  return conv.in * conv.out <= 512 ? 8 : 16;
}

// What one thread needs while it goes down the rows of tiles.
template <class T>
class TileRows {
 public:
  TileRows(const WinogradConv& conv, const WinogradMaps& maps, Isa isa)
      : conv_(conv),
        maps_(maps),
        rows_({.x = static_cast<const T*>(maps.x),
               .height = maps.height,
               .width = maps.width,
               .channels = conv.in,
               .scale = maps.scale,
               .shift = maps.shift},
              isa),
        steps_(steps_of<T>(isa)),
        side_(patch_side(conv.kind)),
        room_(tiles_at_once(conv)) {
    const std::int64_t tiles = side_ * side_ * room_;
    inputs_ = scratch<T, 0>(static_cast<std::size_t>(tiles * conv.in));
    products_ = scratch<float, 1>(static_cast<std::size_t>(tiles * conv.out));
  }

  void row(std::int64_t image, std::int64_t r) {
    const bool same = conv_.kind == WinogradKind::same;
    TileRun<T> run{.kind = conv_.kind,
                   .in = conv_.in,
                   .out = conv_.out,
                   .weights = weights_of<T>(conv_),
                   .bias = conv_.bias.data(),
                   .width = maps_.width,
                   .room = room_,
                   .inputs = inputs_,
                   .products = products_};
    for (int i = 0; i < side_; ++i) run.rows[i] = rows_(image, (same ? 2 * r : r) - 1 + i);
    const std::int64_t y_height = same ? maps_.height : 2 * maps_.height;
    const std::int64_t y_row = (same ? maps_.width : 2 * maps_.width) * conv_.out;
    for (int i = 0; i < 2; ++i) {
      const std::int64_t at = (image * y_height + 2 * r + i) * y_row;
      run.y[i] = static_cast<T*>(maps_.y) + at;
      run.add[i] = maps_.add != nullptr ? static_cast<const T*>(maps_.add) + at : nullptr;
    }
    const std::int64_t tiles = same ? maps_.width / 2 : maps_.width;
    for (run.first_tile = 0; run.first_tile < tiles; run.first_tile += room_) {
      run.tiles = std::min(room_, tiles - run.first_tile);
      steps_.transform(run);
      steps_.multiply(run);
      steps_.finish(run);
    }
  }

 private:
  const WinogradConv& conv_;
  const WinogradMaps& maps_;
  ActivatedRows<T> rows_;
  const WinogradSteps<T>& steps_;
  int side_;
  std::int64_t room_;
  T* inputs_;
  float* products_;
};

template <class T>
void run(const WinogradConv& conv, const WinogradMaps& maps, Isa isa) {
  const std::int64_t rows = conv.kind == WinogradKind::same ? maps.height / 2 : maps.height;
  const std::int64_t work = 4 * maps.width * conv.in;
  parallel_for(maps.images * rows, work, [&](std::int64_t begin, std::int64_t end) {
    TileRows<T> tiles(conv, maps, isa);
    for (std::int64_t line = begin; line < end; ++line) tiles.row(line / rows, line % rows);
  });
}

}  // namespace

WinogradConv::WinogradConv(WinogradKind of_kind, Format of_maps, const float* weight,
                           const float* of_bias, std::int64_t inputs, std::int64_t outputs)
    : kind(of_kind), format(of_maps), in(inputs), out(outputs), bias(of_bias, of_bias + outputs) {
  const int side = patch_side(kind);
  const auto size = static_cast<std::size_t>(side * side * in * out);
  const std::int64_t together = format == Format::fp32 ? 1 : 2;  // inputs side by side
  format == Format::fp32 ? fp32_weights.reserve(size) : bf16_weights.reserve(size);
  for (int position = 0; position < side * side; ++position)
    for (std::int64_t group = 0; group < out; group += 16)
      for (std::int64_t first = 0; first < in; first += together)
        for (std::int64_t o = group; o < group + 16; ++o)
          for (std::int64_t i = first; i < first + together; ++i) {
            const float value =
                position_weight(kind, position / side, position % side, weight + (o * in + i) * 9);
            if (format == Format::fp32)
              fp32_weights.push_back(value);
            else
              store(value, bf16_weights.emplace_back());
          }
}

void winograd_conv(const WinogradConv& conv, const WinogradMaps& maps, Isa isa) {
  if (conv.format == Format::fp32)
    run<float>(conv, maps, isa);
  else
    run<std::uint16_t>(conv, maps, isa);
}

}  // namespace navtalk::kernels
