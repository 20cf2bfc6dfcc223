#include "gpu/kernels/conv/winograd_conv.h"

#include <algorithm>
#include <array>

#include "gpu/kernels/activated_rows.h"
#include "gpu/kernels/bf16.h"
#include "gpu/kernels/conv/winograd_steps.h"
#include "gpu/kernels/parallel.h"

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

// What one thread needs while it goes down the rows of tiles.
class TileRows {
 public:
  TileRows(const WinogradConv& conv, const WinogradMaps& maps, Isa isa)
      : conv_(conv),
        maps_(maps),
        rows_({.x = maps.x,
               .height = maps.height,
               .width = maps.width,
               .channels = conv.in,
               .scale = maps.scale,
               .shift = maps.shift},
              isa),
        steps_(isa == Isa::avx512 ? avx512_winograd_steps() : portable_winograd_steps()),
        side_(patch_side(conv.kind)) {
    // Both as many as a core's first cache holds together with the weights, if any number does.
    room_ = conv.in * conv.out <= 512 ? 8 : 16;
    inputs_.resize(static_cast<std::size_t>(side_ * side_ * room_ * conv.in));
    products_.resize(static_cast<std::size_t>(side_ * side_ * room_ * conv.out));
  }

  void row(std::int64_t image, std::int64_t r) {
    const bool same = conv_.kind == WinogradKind::same;
    TileRun run{.kind = conv_.kind,
                .in = conv_.in,
                .out = conv_.out,
                .weights = conv_.weights.data(),
                .bias = conv_.bias.data(),
                .width = maps_.width,
                .room = room_,
                .inputs = inputs_.data(),
                .products = products_.data()};
    for (int i = 0; i < side_; ++i) run.rows[i] = rows_(image, (same ? 2 * r : r) - 1 + i);
    const std::int64_t y_height = same ? maps_.height : 2 * maps_.height;
    const std::int64_t y_row = (same ? maps_.width : 2 * maps_.width) * conv_.out;
    for (int i = 0; i < 2; ++i) {
      const std::int64_t at = (image * y_height + 2 * r + i) * y_row;
      run.y[i] = maps_.y + at;
      run.add[i] = maps_.add != nullptr ? maps_.add + at : nullptr;
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
  ActivatedRows rows_;
  const WinogradSteps& steps_;
  int side_;
  std::int64_t room_ = 0;
  std::vector<std::uint16_t> inputs_;
  std::vector<float> products_;
};

}  // namespace

WinogradConv::WinogradConv(WinogradKind of_kind, const float* weight, const float* of_bias,
                           std::int64_t inputs, std::int64_t outputs)
    : kind(of_kind), in(inputs), out(outputs), bias(of_bias, of_bias + outputs) {
  const int side = patch_side(kind);
  weights.resize(static_cast<std::size_t>(side * side * in * out));
  std::uint16_t* to = weights.data();
  for (int position = 0; position < side * side; ++position)
    for (std::int64_t group = 0; group < out; group += 16)
      for (std::int64_t pair = 0; pair < in; pair += 2)
        for (std::int64_t o = group; o < group + 16; ++o)
          for (std::int64_t i = pair; i < pair + 2; ++i)
            store(
                position_weight(kind, position / side, position % side, weight + (o * in + i) * 9),
                *to++);
}

void winograd_conv(const WinogradConv& conv, const WinogradMaps& maps, Isa isa) {
  const std::int64_t rows = conv.kind == WinogradKind::same ? maps.height / 2 : maps.height;
  const std::int64_t work = 4 * maps.width * conv.in;
  parallel_for(maps.images * rows, work, [&](std::int64_t begin, std::int64_t end) {
    TileRows tiles(conv, maps, isa);
    for (std::int64_t line = begin; line < end; ++line) tiles.row(line / rows, line % rows);
  });
}

}  // namespace navtalk::kernels
