// The portable steps: the clearest loops, and the twin that the vector ones are tested against.
#include "gpu/kernels/winograd/winograd_steps.h"

#include <array>

#include "gpu/kernels/bf16.h"

namespace navtalk::kernels {
namespace {

using Four = std::array<float, 4>;

// B: what one row or column of a patch (of three or four) contributes to its positions.
Four to_positions(WinogradKind kind, const Four& d) {
  if (kind == WinogradKind::same) return {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]};
  return {d[0] - d[1], d[1], d[2] - d[1], 0};
}

// A: one row or column of products to two pixels.
std::array<float, 2> to_pixels(WinogradKind kind, const Four& m) {
  if (kind == WinogradKind::same) return {m[0] + m[1] + m[2], m[1] - m[2] - m[3]};
  return {m[0] + m[1], m[1] + m[2]};
}

// Where a position keeps channel c of tile t.
template <class T>
std::int64_t input(const TileRun<T>& run, std::int64_t t, std::int64_t c) {
  return (c / 16 * run.room + t) * 16 + c % 16;
}

// Where the weight of input i and output o of 16 lies.
template <class T>
std::int64_t weight(std::int64_t i, std::int64_t o) {
  return sizeof(T) == 4 ? i * 16 + o : i / 2 * 32 + o * 2 + i % 2;
}

template <class T>
void transform(const TileRun<T>& run) {
  const int side = patch_side(run.kind);
  const std::int64_t step = run.kind == WinogradKind::same ? 2 : 1;
  for (std::int64_t t = 0; t < run.tiles; ++t)
    for (std::int64_t c = 0; c < run.in; ++c) {
      std::array<Four, 4> columns{};  // [column of the patch][row position]
      for (int j = 0; j < side; ++j) {
        const std::int64_t x = (run.first_tile + t) * step - 1 + j;
        Four d{};
        for (int i = 0; i < side && x >= 0 && x < run.width; ++i)
          d[static_cast<std::size_t>(i)] = to_float(run.rows[i][x * run.in + c]);
        columns[static_cast<std::size_t>(j)] = to_positions(run.kind, d);
      }
      for (int i = 0; i < side; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Four v = to_positions(
            run.kind, {columns[0][at], columns[1][at], columns[2][at], columns[3][at]});
        for (int j = 0; j < side; ++j)
          store(v[static_cast<std::size_t>(j)],
                run.inputs[(i * side + j) * run.room * run.in + input(run, t, c)]);
      }
    }
}

template <class T>
void multiply(const TileRun<T>& run) {
  const int side = patch_side(run.kind);
  for (std::int64_t position = 0; position < side * side; ++position)
    for (std::int64_t t = 0; t < run.tiles; ++t)
      for (std::int64_t o = 0; o < run.out; ++o) {
        const T* w = run.weights + (position * run.out + o / 16 * 16) * run.in;
        const T* v = run.inputs + position * run.room * run.in;
        float sum = 0;
        for (std::int64_t i = 0; i < run.in; ++i)
          sum += to_float(v[input(run, t, i)]) * to_float(w[weight<T>(i, o % 16)]);
        run.products[(position * run.room + t) * run.out + o] = sum;
      }
}

template <class T>
void finish(const TileRun<T>& run) {
  const int side = patch_side(run.kind);
  for (std::int64_t t = 0; t < run.tiles; ++t)
    for (std::int64_t o = 0; o < run.out; ++o) {
      std::array<std::array<float, 2>, 4> columns{};  // [column position][row of pixels]
      for (int j = 0; j < side; ++j) {
        Four m{};
        for (int i = 0; i < side; ++i)
          m[static_cast<std::size_t>(i)] =
              run.products[((i * side + j) * run.room + t) * run.out + o];
        columns[static_cast<std::size_t>(j)] = to_pixels(run.kind, m);
      }
      for (std::size_t i = 0; i < 2; ++i) {
        const auto pixels =
            to_pixels(run.kind, {columns[0][i], columns[1][i], columns[2][i], columns[3][i]});
        for (std::size_t j = 0; j < 2; ++j) {
          const std::int64_t at =
              (2 * (run.first_tile + t) + static_cast<std::int64_t>(j)) * run.out + o;
          float sum = pixels[j] + run.bias[o];
          if (run.add[i] != nullptr) sum += to_float(run.add[i][at]);
          store(sum, run.y[i][at]);
        }
      }
    }
}

}  // namespace

template <class T>
const WinogradSteps<T>& portable_winograd_steps() {
  static constexpr WinogradSteps<T> k_steps{transform<T>, multiply<T>, finish<T>};
  return k_steps;
}
template const WinogradSteps<float>& portable_winograd_steps();
template const WinogradSteps<std::uint16_t>& portable_winograd_steps();

}  // namespace navtalk::kernels
