// A small map takes one launch: a block reads one group of an image, keeps what its registers hold, and reads the rest again, out of its
// cache. A large one takes two, in both of which a thread owns one pack of neighbouring channels and takes every rows-th pixel of its block's run:
//
//   channels  ->  pack 0   pack 1   ...            statistics: moments of a run per channel, then per group
//   pixel 0       thread   thread   ...  row 0     apply:      joins the moments of an image's runs, then y = silu(x * scale + shift)
//   pixel 1       thread   thread   ...  row 1
//
// Sums are of differences from one of the values, so that nothing cancels where a mean is large.
#include <algorithm>
#include <initializer_list>

#include "core/base/check.h"
#include "gpu/cuda/kernel.h"
#include "gpu/kernels/device/group_norm.h"
#include "gpu/kernels/device/packs.h"

namespace navtalk::cuda {
namespace {

constexpr int k_group_threads = 512;
// Packs that a thread keeps from the first reading to the second.
template <class Value, int size>
constexpr int k_kept = sizeof(Pack<Value, size>) >= 16  ? 6
                       : sizeof(Pack<Value, size>) >= 8 ? 3
                                                        : 12;
// Of a group of an image, at most, where one block takes it: what stays in the cache of a multiprocessor.
constexpr std::ptrdiff_t k_small_bytes = 160 << 10;

constexpr int k_threads = 256, k_warps = k_threads / k_warp;
constexpr int k_runs = 128;     // of an image, at most: a block for almost every multiprocessor
constexpr int k_applied = 256;  // blocks that write an image, about
// Loads of a thread in flight: where it only reads; where it writes, where more would lower the occupancy; beside packs that it keeps.
constexpr int k_together = 8, k_written = 4, k_rest = 4;
constexpr int k_parts = 8;  // of an image's runs, each joined by a thread of its own

__device__ float normed(float value, float2 affine, bool silu) {
  value = __fmaf_rn(value, affine.x, affine.y);
  return silu ? __fdividef(value, 1.0F + __expf(-value)) : value;
}

// A map of one image: x or skip, whichever has channel c.
template <class Value>
struct Map {
  const Value* at;  // its first pixel, at channel c
  int stride;       // values from pixel to pixel
};
template <class Value>
__device__ Map<Value> map_of(const GroupNorm& norm, int image, int c) {
  const bool in_x = c < norm.channels;
  const int stride = in_x ? norm.channels : norm.skip_channels;
  const auto* map = static_cast<const Value*>(in_x ? norm.x : norm.skip);
  return {map + static_cast<std::ptrdiff_t>(image) * norm.pixels * stride +
              (in_x ? c : c - norm.channels),
          stride};
}
// The packs of every rows-th pixel of a thread, `together` of them from `row` on, and fn(pixel, pack) for each.
template <int together, int size, class Value>
__device__ void load_pixels(Pack<Value, size>* packs, const Value* at, int stride, int row,
                            int rows, int pixels) {
  NAVTALK_UNROLL(16)
  for (int i = 0; i < together; ++i)
    if (const int pixel = row + i * rows; pixel < pixels)
      packs[i] = load_pack<Value, size>(at + static_cast<std::ptrdiff_t>(pixel) * stride);
}
template <int together, int size, class Value, class Function>
__device__ void for_pixels(Pack<Value, size>* packs, int row, int rows, int pixels,
                           const Function& fn) {
  NAVTALK_UNROLL(16)
  for (int i = 0; i < together; ++i)
    if (const int pixel = row + i * rows; pixel < pixels) fn(pixel, packs[i]);
}
// All of them, `together` at a time.
template <int together, int size, class Value, class Function>
__device__ void each_pixel(const Value* at, int stride, int row, int rows, int pixels,
                           const Function& fn) {
  for (int first = row; first < pixels; first += together * rows) {
    Pack<Value, size> packs[together];
    load_pixels<together>(packs, at, stride, first, rows, pixels);
    for_pixels<together>(packs, first, rows, pixels, fn);
  }
}

__device__ float bias_of(const GroupNorm& norm, int c) {
  return norm.bias != nullptr && c < norm.channels ? norm.bias[c] : 0.0F;
}

// Sums of a block's threads, in every thread.
__device__ float2 block_sum(float2 value) {
  __shared__ float2 of_warps[k_group_threads / k_warp];
  value = {warp_sum(value.x), warp_sum(value.y)};
  const int self = static_cast<int>(threadIdx.x);
  if (self % k_warp == 0) of_warps[self / k_warp] = value;
  __syncthreads();
  float2 sum{0, 0};
  for (int warp = 0; warp < k_group_threads / k_warp; ++warp) {
    sum.x += of_warps[warp].x;
    sum.y += of_warps[warp].y;
  }
  return sum;
}

template <class Value, int size>
__global__ void __launch_bounds__(k_group_threads, sizeof(Pack<Value, size>) < 16 ? 2 : 1)
    group_kernel(GroupNorm norm) {
  const int total = norm.channels + norm.skip_channels, in_group = total / norm.groups;
  const int packs = in_group / size, rows = k_group_threads / packs;
  const int group = static_cast<int>(blockIdx.x), image = static_cast<int>(blockIdx.y);
  const int column = static_cast<int>(threadIdx.x) % packs,
            row = static_cast<int>(threadIdx.x) / packs;
  const int first = group * in_group, c = first + column * size;
  const Map<Value> map = map_of<Value>(norm, image, c);
  const float pivot = as_float(*map_of<Value>(norm, image, first).at) + bias_of(norm, first);
  float offset[size];
  for (int i = 0; i < size; ++i) offset[i] = bias_of(norm, c + i) - pivot;
  float2 sum{0, 0};
  const auto gather = [&](int, const Pack<Value, size>& values) {
    for (int i = 0; i < size; ++i) {
      const float difference = as_float(values.at[i]) + offset[i];
      sum.x += difference;
      sum.y = __fmaf_rn(difference, difference, sum.y);
    }
  };
  constexpr int keep = k_kept<Value, size>;
  Pack<Value, size> kept[keep];
  const bool keeps = norm.pixels <= keep * rows;
  if (row < rows) {
    load_pixels<keep>(kept, map.at, map.stride, row, rows, norm.pixels);
    for_pixels<keep>(kept, row, rows, norm.pixels, gather);
    if (!keeps)
      each_pixel<k_rest, size>(map.at, map.stride, row + keep * rows, rows, norm.pixels, gather);
  }
  sum = block_sum(sum);
  if (row >= rows) return;
  const float n = static_cast<float>(norm.pixels) * static_cast<float>(in_group);
  const float mean = sum.x / n;  // from the pivot
  const float variance = fmaxf(sum.y - sum.x * mean, 0.0F) / n;
  const float inverse = 1.0F / sqrtf(variance + norm.eps);
  float2 affine[size];
  for (int i = 0; i < size; ++i) {
    const float scale = inverse * norm.gamma[c + i];
    affine[i] = {scale, __fmaf_rn(offset[i] - mean, scale, norm.beta[c + i])};
  }
  auto* y =
      static_cast<Value*>(norm.y) + static_cast<std::ptrdiff_t>(image) * norm.pixels * total + c;
  const auto write = [&](int pixel, Pack<Value, size>& values) {
    for (int i = 0; i < size; ++i)
      put(values.at[i], normed(as_float(values.at[i]), affine[i], norm.silu));
    store_pack(y + static_cast<std::ptrdiff_t>(pixel) * total, values);
  };
  for_pixels<keep>(kept, row, rows, norm.pixels, write);
  if (!keeps)
    each_pixel<k_rest, size>(map.at, map.stride, row + keep * rows, rows, norm.pixels, write);
}

struct Work {
  GroupNorm norm;
  int total;        // channels
  int packs;        // of a pixel
  int across;       // threads side by side
  int rows;         // threads below one another
  int run, runs;    // pixels of a block that gathers statistics, and how many such blocks
  int applied;      // pixels of a block that writes
  int parts;        // in which an image's runs are joined
  float2* moments;  // [images, runs, groups]: mean, squared differences from it
};

template <class Value, int size>
__global__ void __launch_bounds__(k_threads) statistics_kernel(Work work) {
  NAVTALK_DYNAMIC_SHARED(float2, channel);      // [total]: mean, squared differences
  __shared__ float2 partial[k_threads * size];  // [rows][across * size]: sums, squares
  const int image = static_cast<int>(blockIdx.y), begin = static_cast<int>(blockIdx.x) * work.run;
  const int left = work.norm.pixels - begin, pixels = left < work.run ? left : work.run;
  const int self = static_cast<int>(threadIdx.x), column = self % work.across,
            row = self / work.across;
  const int width = work.across * size;
  const auto n = static_cast<float>(pixels);
  for (int slice = 0; slice < work.packs; slice += work.across) {
    const int index = slice + column;
    if (row < work.rows && index < work.packs) {
      const Map<Value> map = map_of<Value>(work.norm, image, index * size);
      const Value* from = map.at + static_cast<std::ptrdiff_t>(begin) * map.stride;
      const auto pivot = load_pack<Value, size>(from);
      float sum[size] = {}, square[size] = {};
      const auto gather = [&](int, const Pack<Value, size>& values) {
        for (int i = 0; i < size; ++i) {
          const float difference = as_float(values.at[i]) - as_float(pivot.at[i]);
          sum[i] += difference;
          square[i] = __fmaf_rn(difference, difference, square[i]);
        }
      };
      each_pixel<k_together, size>(from, map.stride, row, work.rows, pixels, gather);
      for (int i = 0; i < size; ++i) partial[row * width + column * size + i] = {sum[i], square[i]};
    }
    __syncthreads();
    const int rest = work.total - slice * size;
    for (int c = self; c < width && c < rest; c += k_threads) {
      float2 sum{0, 0};
      for (int other = 0; other < work.rows; ++other) {
        sum.x += partial[other * width + c].x;
        sum.y += partial[other * width + c].y;
      }
      const int whole = slice * size + c;
      const Map<Value> map = map_of<Value>(work.norm, image, whole);
      const float pivot = as_float(map.at[static_cast<std::ptrdiff_t>(begin) * map.stride]);
      channel[whole] = {pivot + sum.x / n + bias_of(work.norm, whole),
                        fmaxf(sum.y - sum.x * (sum.x / n), 0.0F)};
    }
    __syncthreads();
  }

  const int lane = self % k_warp, groups = work.norm.groups, in_group = work.total / groups;
  float2* moments =
      work.moments + (static_cast<std::ptrdiff_t>(image) * work.runs + blockIdx.x) * groups;
  for (int group = self / k_warp; group < groups; group += k_warps) {
    const float2* of_group = channel + group * in_group;
    float sum = 0;
    for (int c = lane; c < in_group; c += k_warp) sum += of_group[c].x - of_group[0].x;
    const float mean = of_group[0].x + warp_sum(sum) / static_cast<float>(in_group);
    float squares = 0;
    for (int c = lane; c < in_group; c += k_warp) {
      const float difference = of_group[c].x - mean;
      squares += of_group[c].y + difference * difference * n;
    }
    squares = warp_sum(squares);
    if (lane == 0) moments[group] = {mean, squares};
  }
}

// Mean and inverse deviation of each group of an image, from the moments of its runs, into `group`; all threads of one block. `part` has
// room for each part of each group.
__device__ void join_runs(const Work& work, int image, float2* part, float2* group) {
  const int groups = work.norm.groups, self = static_cast<int>(threadIdx.x);
  const auto in_group = static_cast<float>(work.total / groups);
  const float2* moments = work.moments + static_cast<std::ptrdiff_t>(image) * work.runs * groups;
  for (int index = self; index < work.parts * groups; index += k_threads) {
    const int g = index % groups;
    const float pivot = moments[g].x;
    float2 sum{0, 0};
    NAVTALK_UNROLL(8)
    for (int run = index / groups; run < work.runs; run += work.parts) {
      const float2 one = moments[run * groups + g];
      const int left = work.norm.pixels - run * work.run;
      const auto weight = static_cast<float>(left < work.run ? left : work.run);
      const float difference = one.x - pivot;
      sum.x += difference * weight;
      sum.y += one.y + difference * difference * weight * in_group;
    }
    part[index] = sum;
  }
  __syncthreads();
  const auto n = static_cast<float>(work.norm.pixels);
  for (int g = self; g < groups; g += k_threads) {
    float2 sum{0, 0};
    for (int i = 0; i < work.parts; ++i) {
      sum.x += part[i * groups + g].x;
      sum.y += part[i * groups + g].y;
    }
    const float mean = sum.x / n;  // from the pivot
    const float variance = fmaxf(sum.y - sum.x * mean * in_group, 0.0F) / (n * in_group);
    group[g] = {moments[g].x + mean, 1.0F / sqrtf(variance + work.norm.eps)};
  }
  __syncthreads();
}

template <class Value, int size>
__global__ void __launch_bounds__(k_threads) apply_kernel(Work work) {
  NAVTALK_DYNAMIC_SHARED(float2, shared);  // [parts + 1, groups]
  const int image = static_cast<int>(blockIdx.y),
            begin = static_cast<int>(blockIdx.x) * work.applied;
  const int left = work.norm.pixels - begin, pixels = left < work.applied ? left : work.applied;
  const int column = static_cast<int>(threadIdx.x) % work.across,
            row = static_cast<int>(threadIdx.x) / work.across;
  float2* group = shared + work.parts * work.norm.groups;
  join_runs(work, image, shared, group);
  if (row >= work.rows) return;
  const int in_group = work.total / work.norm.groups;
  auto* y = static_cast<Value*>(work.norm.y) +
            (static_cast<std::ptrdiff_t>(image) * work.norm.pixels + begin) * work.total;
  for (int index = column; index < work.packs; index += work.across) {
    const int c = index * size;
    const Map<Value> map = map_of<Value>(work.norm, image, c);
    const Value* from = map.at + static_cast<std::ptrdiff_t>(begin) * map.stride;
    float2 affine[size];
    for (int i = 0; i < size; ++i) {
      const float2 of_group = group[(c + i) / in_group];
      const float scale = of_group.y * work.norm.gamma[c + i];
      affine[i] = {scale,
                   __fmaf_rn(bias_of(work.norm, c + i) - of_group.x, scale, work.norm.beta[c + i])};
    }
    const auto write = [&](int pixel, Pack<Value, size>& values) {
      for (int i = 0; i < size; ++i)
        put(values.at[i], normed(as_float(values.at[i]), affine[i], work.norm.silu));
      store_pack(y + static_cast<std::ptrdiff_t>(pixel) * work.total + c, values);
    };
    each_pixel<k_written, size>(from, map.stride, row, work.rows, pixels, write);
  }
}

int channels_of(const GroupNorm& norm) { return norm.channels + norm.skip_channels; }

// How a norm is shared out; the same for every batch and for every pack.
Work shared_out(const GroupNorm& norm, int pack) {
  Work work{};
  work.norm = norm;
  work.total = channels_of(norm);
  work.packs = work.total / pack;
  work.across = std::min(work.packs, k_threads);
  work.rows = k_threads / work.across;
  const auto pixels_of = [&](int most_blocks) {
    const int turns =
        static_cast<int>(blocks(norm.pixels, static_cast<unsigned>(work.rows * most_blocks)));
    return work.rows * std::max(turns, 1);
  };
  work.run = pixels_of(k_runs);
  work.runs = static_cast<int>(blocks(norm.pixels, static_cast<unsigned>(work.run)));
  work.applied = pixels_of(k_applied);
  work.parts = norm.groups <= 64 ? k_parts : 1;
  return work;
}

// The pack in which a block takes one group; 0: the map is too large, or the group too wide.
template <class Value>
int small_pack(const GroupNorm& norm) {
  const int in_group = channels_of(norm) / norm.groups;
  const int pack = widest_pack<Value>({in_group, norm.channels, norm.skip_channels},
                                      {norm.x, norm.skip, norm.y});
  const auto bytes = static_cast<std::ptrdiff_t>(sizeof(Value)) * norm.pixels * in_group;
  return bytes <= k_small_bytes && in_group / pack <= k_group_threads ? pack : 0;
}

template <class Value, int size>
void launch_small(const GroupNorm& norm, int pack, Stream stream) {
  if (pack == size) {
    const dim3 grid(static_cast<unsigned>(norm.groups), static_cast<unsigned>(norm.images));
    NAVTALK_LAUNCH((group_kernel<Value, size>), grid, dim3(k_group_threads), 0, stream, norm);
  } else if constexpr (size > 1) {
    launch_small<Value, size / 2>(norm, pack, stream);
  }
}

template <class Value, int size>
void launch(const GroupNorm& norm, void* workspace, Stream stream) {
  Work work = shared_out(norm, size);
  work.moments = static_cast<float2*>(workspace);
  const auto images = static_cast<unsigned>(norm.images);
  NAVTALK_LAUNCH((statistics_kernel<Value, size>), dim3(static_cast<unsigned>(work.runs), images),
                 dim3(k_threads), static_cast<std::size_t>(work.total) * sizeof(float2), stream,
                 work);
  NAVTALK_LAUNCH(
      (apply_kernel<Value, size>),
      dim3(blocks(norm.pixels, static_cast<unsigned>(work.applied)), images), dim3(k_threads),
      static_cast<std::size_t>((work.parts + 1) * norm.groups) * sizeof(float2), stream, work);
}

template <class Value>
void launch_widest(const GroupNorm& norm, void* workspace, Stream stream) {
  constexpr int k_pack = k_most_pack<Value>;
  if (const int pack = small_pack<Value>(norm); pack > 0)
    return launch_small<Value, k_pack>(norm, pack, stream);
  if (widest_pack<Value>({norm.channels, norm.skip_channels}, {norm.x, norm.skip, norm.y}) ==
      k_pack)
    return launch<Value, k_pack>(norm, workspace, stream);
  launch<Value, 1>(norm, workspace, stream);
}

}  // namespace

std::size_t group_norm_workspace_bytes(const GroupNorm& norm) {
  if (norm.images == 0 || norm.pixels == 0) return 0;
  const bool small =
      norm.format == Format::fp16 ? small_pack<__half>(norm) > 0 : small_pack<float>(norm) > 0;
  if (small) return 0;
  // Whatever the addresses allow.
  const int pack = 16 / static_cast<int>(item_size(norm.format));
  const int runs = std::max(shared_out(norm, 1).runs,
                            channels_of(norm) % pack == 0 ? shared_out(norm, pack).runs : 0);
  return static_cast<std::size_t>(norm.images) * static_cast<std::size_t>(runs) *
         static_cast<std::size_t>(norm.groups) * sizeof(float2);
}

void group_norm(const GroupNorm& norm, void* workspace, Stream stream) {
  const int total = channels_of(norm);
  NAVTALK_CHECK(norm.groups > 0 && total > 0 && total % norm.groups == 0);
  NAVTALK_CHECK(total <= k_most_norm_channels && norm.images <= 65535);
  NAVTALK_CHECK(norm.skip_channels == 0 || (norm.skip != nullptr && norm.y != norm.x));
  if (norm.images == 0 || norm.pixels == 0) return;
  if (norm.format == Format::fp16)
    launch_widest<__half>(norm, workspace, stream);
  else
    launch_widest<float>(norm, workspace, stream);
}

}  // namespace navtalk::cuda
