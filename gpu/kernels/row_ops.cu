// Each thread takes a few packs of neighbouring channels, a block's width apart, so that their loads are on their way together.
#include <initializer_list>

#include "core/base/check.h"
#include "gpu/kernels/device/packs.h"
#include "gpu/kernels/device/row_ops.h"

namespace navtalk::cuda {
namespace {

constexpr int k_threads = 256, k_turns = 4;  // packs of a thread

// fn(index) for each of the thread's packs.
template <class Function>
__device__ void each_pack(std::ptrdiff_t packs, const Function& fn) {
  const std::ptrdiff_t first = std::ptrdiff_t{blockIdx.x} * (k_threads * k_turns) + threadIdx.x;
  NAVTALK_UNROLL(16)
  for (int turn = 0; turn < k_turns; ++turn) {
    const std::ptrdiff_t index = first + turn * k_threads;
    if (index < packs) fn(index);
  }
}

template <class Value, int size>
__global__ void __launch_bounds__(k_threads)
    add_kernel(std::ptrdiff_t packs, int across, const Value* x, const Value* add,
               const float* bias, Value* y) {
  each_pack(packs, [&](std::ptrdiff_t index) {
    auto sum = load_pack<Value, size>(x + index * size);
    const int c = static_cast<int>(index % across) * size;
    Pack<Value, size> more{};
    if (add != nullptr) more = load_pack<Value, size>(add + index * size);
    const auto biases = load_floats<size>(bias != nullptr ? bias + c : nullptr);
    for (int i = 0; i < size; ++i) {
      float value = as_float(sum.at[i]) + biases.at[i];
      if (add != nullptr) value += as_float(more.at[i]);
      put(sum.at[i], value);
    }
    store_pack(y + index * size, sum);
  });
}

template <class Value, int size>
__global__ void __launch_bounds__(k_threads)
    geglu_kernel(std::ptrdiff_t packs, int across, const Value* x, Value* y) {
  constexpr float k_inverse_root_of_two = 0.70710678F;
  each_pack(packs, [&](std::ptrdiff_t index) {
    const std::ptrdiff_t row = index / across;
    const auto values = load_pack<Value, size>(x + (index + row * across) * size);
    const auto gates = load_pack<Value, size>(x + (index + (row + 1) * across) * size);
    Pack<Value, size> gated;
    for (int i = 0; i < size; ++i) {
      const float gate = as_float(gates.at[i]);
      const float gelu = 0.5F * gate * (1.0F + erff(gate * k_inverse_root_of_two));
      put(gated.at[i], as_float(values.at[i]) * gelu);
    }
    store_pack(y + index * size, gated);
  });
}

constexpr int k_row_packs = 8;  // that a thread keeps, at most

// `across` threads a row, a power of two from a warp's on; sums are of differences from the row's first value.
template <class Value, int size>
__global__ void __launch_bounds__(k_threads)
    layer_norm_kernel(std::ptrdiff_t rows, int channels, int across, LayerNorm norm) {
  __shared__ float2 of_warps[k_threads / k_warp];
  const int self = static_cast<int>(threadIdx.x), column = self % across;
  const std::ptrdiff_t row = std::ptrdiff_t{blockIdx.x} * (k_threads / across) + self / across;
  const bool there = row < rows;
  const Value* x = static_cast<const Value*>(norm.x) + row * channels;
  const auto bias_at = [&](int c) {
    return load_floats<size>(norm.bias != nullptr ? norm.bias + c : nullptr);
  };
  Pack<Value, size> packs[k_row_packs];
  float sum = 0, square = 0, pivot = 0;
  if (there) {
    NAVTALK_UNROLL(8)
    for (int i = 0; i < k_row_packs; ++i)
      if (const int c = (column + i * across) * size; c < channels)
        packs[i] = load_pack<Value, size>(x + c);
    pivot = as_float(x[0]) + (norm.bias != nullptr ? norm.bias[0] : 0.0F);
    NAVTALK_UNROLL(8)
    for (int i = 0; i < k_row_packs; ++i)
      if (const int c = (column + i * across) * size; c < channels) {
        const auto bias = bias_at(c);
        for (int j = 0; j < size; ++j) {
          const float difference = as_float(packs[i].at[j]) + bias.at[j] - pivot;
          sum += difference;
          square = __fmaf_rn(difference, difference, square);
        }
      }
  }
  sum = warp_sum(sum);
  square = warp_sum(square);
  if (self % k_warp == 0) of_warps[self / k_warp] = {sum, square};
  __syncthreads();
  if (!there) return;
  sum = square = 0;
  for (int warp = self / across * (across / k_warp), i = 0; i < across / k_warp; ++i) {
    sum += of_warps[warp + i].x;
    square += of_warps[warp + i].y;
  }
  const auto n = static_cast<float>(channels);
  const float mean = sum / n;  // from the pivot
  const float inverse = 1.0F / sqrtf(fmaxf(square - sum * mean, 0.0F) / n + norm.eps);
  Value* y = static_cast<Value*>(norm.y) + row * channels;
  NAVTALK_UNROLL(8)
  for (int i = 0; i < k_row_packs; ++i)
    if (const int c = (column + i * across) * size; c < channels) {
      const auto bias = bias_at(c), gamma = load_floats<size>(norm.gamma + c),
                 beta = load_floats<size>(norm.beta + c);
      for (int j = 0; j < size; ++j) {
        const float difference = as_float(packs[i].at[j]) + bias.at[j] - pivot;
        put(packs[i].at[j], __fmaf_rn(difference - mean, inverse * gamma.at[j], beta.at[j]));
      }
      store_pack(y + c, packs[i]);
    }
}

template <class Value, int size>
__global__ void __launch_bounds__(k_threads)
    interleave_kernel(std::ptrdiff_t packs, Phases phases, const Value* x, const float* bias,
                      Value* y) {
  const int across = phases.channels / size, width = 2 * phases.w, height = 2 * phases.h;
  each_pack(packs, [&](std::ptrdiff_t index) {
    const std::ptrdiff_t pixel = index / across, line = pixel / width;
    const int c = static_cast<int>(index % across) * size, column = static_cast<int>(pixel % width),
              row = static_cast<int>(line % height);
    const std::ptrdiff_t from =
        ((line / height) * (phases.h + 1) + row / 2 + row % 2) * (phases.w + 1) + column / 2 +
        column % 2;
    const int phase = 2 * (row % 2) + column % 2;
    auto values = load_pack<Value, size>(x + (from * 4 + phase) * phases.channels + c);
    const auto biases = load_floats<size>(bias != nullptr ? bias + c : nullptr);
    for (int i = 0; i < size; ++i) put(values.at[i], as_float(values.at[i]) + biases.at[i]);
    store_pack(y + index * size, values);
  });
}

// fn(values, size) with the type that `format` names and the pack's size as constants.
template <class Value, int size, class Function>
void with_size(int pack, const Function& fn) {
  if (pack == size) {
    fn(Value{}, std::integral_constant<int, size>{});
  } else if constexpr (size > 1) {
    with_size<Value, size / 2>(pack, fn);
  }
}
template <class Function>
void with_packs(Format format, int channels, std::initializer_list<const void*> addresses,
                const Function& fn) {
  if (format == Format::fp16)
    with_size<__half, k_most_pack<__half>>(widest_pack<__half>({channels}, addresses), fn);
  else
    with_size<float, k_most_pack<float>>(widest_pack<float>({channels}, addresses), fn);
}

dim3 grid_of(std::ptrdiff_t packs) { return dim3(blocks(packs, k_threads * k_turns)); }

}  // namespace

void add_to_rows(const Rows& rows, const void* x, const void* add, const float* bias, void* y,
                 Stream stream) {
  with_packs(rows.format, rows.channels, {x, add, bias, y}, [&](auto value, auto size) {
    using Value = decltype(value);
    const int across = rows.channels / size();
    const std::ptrdiff_t packs = rows.rows * across;
    NAVTALK_LAUNCH((add_kernel<Value, size()>), grid_of(packs), dim3(k_threads), 0, stream, packs,
                   across, static_cast<const Value*>(x), static_cast<const Value*>(add), bias,
                   static_cast<Value*>(y));
  });
}

void geglu(const Rows& rows, const void* x, void* y, Stream stream) {
  with_packs(rows.format, rows.channels, {x, y}, [&](auto value, auto size) {
    using Value = decltype(value);
    const int across = rows.channels / size();
    const std::ptrdiff_t packs = rows.rows * across;
    NAVTALK_LAUNCH((geglu_kernel<Value, size()>), grid_of(packs), dim3(k_threads), 0, stream, packs,
                   across, static_cast<const Value*>(x), static_cast<Value*>(y));
  });
}

void layer_norm(const Rows& rows, const LayerNorm& norm, Stream stream) {
  with_packs(rows.format, rows.channels, {norm.x, norm.bias, norm.gamma, norm.beta, norm.y},
             [&](auto value, auto size) {
               using Value = decltype(value);
               const int packs = rows.channels / size();
               NAVTALK_CHECK(packs <= k_threads * k_row_packs);
               int across = k_warp;
               while (across < packs && across < k_threads) across *= 2;
               NAVTALK_LAUNCH((layer_norm_kernel<Value, size()>),
                              dim3(blocks(rows.rows, static_cast<unsigned>(k_threads / across))),
                              dim3(k_threads), 0, stream, rows.rows, rows.channels, across, norm);
             });
}

void interleave_phases(const Phases& phases, const void* x, const float* bias, void* y,
                       Stream stream) {
  with_packs(phases.format, phases.channels, {x, bias, y}, [&](auto value, auto size) {
    using Value = decltype(value);
    const std::ptrdiff_t packs =
        std::ptrdiff_t{phases.images} * 4 * phases.h * phases.w * (phases.channels / size());
    NAVTALK_LAUNCH((interleave_kernel<Value, size()>), grid_of(packs), dim3(k_threads), 0, stream,
                   packs, phases, static_cast<const Value*>(x), bias, static_cast<Value*>(y));
  });
}

}  // namespace navtalk::cuda
