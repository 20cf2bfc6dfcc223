// Two launches. In both a thread owns one pack of neighbouring channels and takes every rows-th pixel of its block's run:
//
//   channels  ->  pack 0   pack 1   ...            statistics: moments of a run per channel, then per group; the last block of an
//   pixel 0       thread   thread   ...  row 0                 image joins its runs and writes scale and shift per channel
//   pixel 1       thread   thread   ...  row 1     apply:      y = silu(x * scale + shift)
//
// Moments are a mean and the sum of squared differences from it, so that nothing cancels where a mean is large.
#include <algorithm>

#include "core/base/check.h"
#include "gpu/cuda/kernel.h"
#include "gpu/kernels/device/group_norm.h"

namespace navtalk::cuda {
namespace {

constexpr int k_threads = 256, k_warp = 32, k_warps = k_threads / k_warp;
constexpr int k_runs = 128;              // of an image, about: enough blocks to fill a device
constexpr int k_most_pixels = 16;        // that a thread takes
constexpr unsigned k_all = 0xffffffffU;  // every thread of the warp

template <class Value, int size>
struct alignas(sizeof(Value) * size) Pack {
  Value at[size];
};

struct Work {
  GroupNorm norm;
  int total;        // channels
  int packs;        // of a pixel
  int across;       // threads side by side
  int rows;         // threads below one another
  int run;          // pixels of a block
  float2* moments;  // [images, runs, groups]: mean, squared differences
  float2* affine;   // [images, total]: scale, shift
  unsigned* done;   // [images]: blocks of the image that have written their moments
};

// Joins the moments (mean, squares) of n values with those of m others.
__device__ void join(float& mean, float& squares, float n, float2 other, float m) {
  const float difference = other.x - mean, all = n + m;
  mean += difference * (m / all);
  squares += other.y + difference * difference * (n * m / all);
}

// The sum over the warp, in every thread of it.
__device__ float warp_sum(float value) {
  for (int bits = k_warp / 2; bits > 0; bits /= 2) value += __shfl_xor_sync(k_all, value, bits);
  return value;
}

__device__ inline float as_float(float value) { return value; }
__device__ inline float as_float(__half value) { return __half2float(value); }
__device__ inline void put(float& to, float value) { to = value; }
__device__ inline void put(__half& to, float value) { to = __float2half_rn(value); }

// The pack `index` of a pixel, which lies in x or in skip.
template <class Value, int size>
__device__ Pack<Value, size> load(const Work& work, std::ptrdiff_t pixel, int index) {
  const int c = index * size;
  const bool in_x = c < work.norm.channels;
  const auto* map = static_cast<const Value*>(in_x ? work.norm.x : work.norm.skip);
  const std::ptrdiff_t at = in_x ? pixel * work.norm.channels + c
                                 : pixel * work.norm.skip_channels + c - work.norm.channels;
  return *reinterpret_cast<const Pack<Value, size>*>(map + at);
}

// Scale and shift of every channel of an image from the moments of its runs; all threads of one block. The warps share out the groups.
__device__ void write_affine(const Work& work, int image, int runs) {
  const int lane = static_cast<int>(threadIdx.x) % k_warp,
            warp = static_cast<int>(threadIdx.x) / k_warp;
  const int groups = work.norm.groups, size = work.total / groups;
  const float2* moments = work.moments + static_cast<std::ptrdiff_t>(image) * runs * groups;
  const auto n = static_cast<float>(work.norm.pixels);
  for (int group = warp; group < groups; group += k_warps) {
    const auto weight = [&](int run) {
      const int left = work.norm.pixels - run * work.run;
      return static_cast<float>(left < work.run ? left : work.run);
    };
    const float pivot = __ldcg(&moments[group]).x;
    float sum = 0;
    for (int run = lane; run < runs; run += k_warp)
      sum += (__ldcg(&moments[run * groups + group]).x - pivot) * weight(run);
    const float mean = pivot + warp_sum(sum) / n;
    float squares = 0;
    for (int run = lane; run < runs; run += k_warp) {
      const float2 one = __ldcg(&moments[run * groups + group]);
      const float difference = one.x - mean;
      squares += one.y + difference * difference * weight(run) * static_cast<float>(size);
    }
    const float variance = warp_sum(squares) / (n * static_cast<float>(size));
    const float inverse = 1.0F / sqrtf(variance + work.norm.eps);
    for (int c = group * size + lane; c < (group + 1) * size; c += k_warp) {
      const float scale = inverse * work.norm.gamma[c];
      work.affine[static_cast<std::ptrdiff_t>(image) * work.total + c] = {
          scale, __fmaf_rn(-mean, scale, work.norm.beta[c])};
    }
  }
}

template <class Value, int size>
__global__ void __launch_bounds__(k_threads) statistics_kernel(Work work) {
  NAVTALK_DYNAMIC_SHARED(float2, channel);      // [total]
  __shared__ float2 partial[k_threads * size];  // [rows][across * size]
  __shared__ bool last;
  const int image = static_cast<int>(blockIdx.y), begin = static_cast<int>(blockIdx.x) * work.run;
  const int left = work.norm.pixels - begin, pixels = left < work.run ? left : work.run;
  const int self = static_cast<int>(threadIdx.x), column = self % work.across,
            row = self / work.across;
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(image) * work.norm.pixels + begin;
  const int width = work.across * size;
  for (int slice = 0; slice < work.packs; slice += work.across) {
    const int index = slice + column;
    if (row < work.rows && row < pixels && index < work.packs) {
      const Pack<Value, size> pivot = load<Value, size>(work, first + row, index);
      float sum[size] = {}, square[size] = {};
      int count = 1;
      for (int pixel = row + work.rows; pixel < pixels; pixel += work.rows, ++count) {
        const Pack<Value, size> values = load<Value, size>(work, first + pixel, index);
        for (int i = 0; i < size; ++i) {
          const float difference = as_float(values.at[i]) - as_float(pivot.at[i]);
          sum[i] += difference;
          square[i] += difference * difference;
        }
      }
      const auto n = static_cast<float>(count);
      for (int i = 0; i < size; ++i)
        partial[row * width + column * size + i] = {as_float(pivot.at[i]) + sum[i] / n,
                                                    square[i] - sum[i] * (sum[i] / n)};
    }
    __syncthreads();
    const int rest = (work.packs - slice) * size;
    for (int c = self; c < width && c < rest; c += k_threads) {
      float mean = partial[c].x, squares = partial[c].y;
      float n = static_cast<float>((pixels + work.rows - 1) / work.rows);
      for (int other = 1; other < work.rows && other < pixels; ++other) {
        const auto m = static_cast<float>((pixels - other + work.rows - 1) / work.rows);
        join(mean, squares, n, partial[other * width + c], m);
        n += m;
      }
      channel[slice * size + c] = {mean, squares};
    }
    __syncthreads();
  }

  const int lane = self % k_warp, groups = work.norm.groups, in_group = work.total / groups;
  const std::ptrdiff_t runs = gridDim.x;
  for (int group = self / k_warp; group < groups; group += k_warps) {
    const float2* of_group = channel + group * in_group;
    float sum = 0;
    for (int c = lane; c < in_group; c += k_warp) sum += of_group[c].x - of_group[0].x;
    const float mean = of_group[0].x + warp_sum(sum) / static_cast<float>(in_group);
    float squares = 0;
    for (int c = lane; c < in_group; c += k_warp) {
      const float difference = of_group[c].x - mean;
      squares += of_group[c].y + difference * difference * static_cast<float>(pixels);
    }
    squares = warp_sum(squares);
    if (lane == 0) work.moments[(image * runs + blockIdx.x) * groups + group] = {mean, squares};
  }

  // What this block wrote is visible to all before it counts itself; whoever counts last sees all.
  __threadfence();
  __syncthreads();
  if (self == 0) last = atomicAdd(&work.done[image], 1U) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  if (self == 0) work.done[image] = 0;
  __threadfence();
  write_affine(work, image, static_cast<int>(runs));
}

template <class Value, int size>
__global__ void __launch_bounds__(k_threads) apply_kernel(Work work) {
  const int image = static_cast<int>(blockIdx.y), begin = static_cast<int>(blockIdx.x) * work.run;
  const int left = work.norm.pixels - begin, pixels = left < work.run ? left : work.run;
  const int column = static_cast<int>(threadIdx.x) % work.across,
            row = static_cast<int>(threadIdx.x) / work.across;
  if (row >= work.rows) return;
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(image) * work.norm.pixels + begin;
  auto* y = static_cast<Value*>(work.norm.y);
  for (int index = column; index < work.packs; index += work.across) {
    float2 affine[size];
    for (int i = 0; i < size; ++i)
      affine[i] = work.affine[static_cast<std::ptrdiff_t>(image) * work.total + index * size + i];
    for (int pixel = row; pixel < pixels; pixel += work.rows) {
      Pack<Value, size> values = load<Value, size>(work, first + pixel, index);
      for (int i = 0; i < size; ++i) {
        float value = __fmaf_rn(as_float(values.at[i]), affine[i].x, affine[i].y);
        if (work.norm.silu) value = value / (1.0F + __expf(-value));
        put(values.at[i], value);
      }
      *reinterpret_cast<Pack<Value, size>*>(y + (first + pixel) * work.total + index * size) =
          values;
    }
  }
}

// How a norm is shared out; the same for every batch.
Work shared_out(const GroupNorm& norm, int pack) {
  Work work{norm, norm.channels + norm.skip_channels, 0, 0, 0, 0, nullptr, nullptr, nullptr};
  work.packs = std::max(1, work.total / pack);
  work.across = std::min(work.packs, k_threads);
  work.rows = k_threads / work.across;
  const int pixels = norm.pixels / (work.rows * k_runs);
  work.run = work.rows * std::clamp(pixels, 1, k_most_pixels);
  return work;
}

bool in_packs(const GroupNorm& norm, int pack) {
  const auto on = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
  return norm.channels % pack == 0 && norm.skip_channels % pack == 0 && on(norm.x) &&
         on(norm.skip) && on(norm.y);
}

// In the workspace: counters, then scale and shift, then moments. The counters' place does not depend on the norm, as the launches of
// several norms use them.
struct Workspace {
  std::ptrdiff_t counters, affine, moments;  // how many
  std::size_t bytes() const {
    return static_cast<std::size_t>(counters) * sizeof(unsigned) +
           static_cast<std::size_t>(affine + moments) * sizeof(float2);
  }
};
Workspace workspace_of(const GroupNorm& norm) {
  const auto runs = [&](std::size_t pack) {
    const Work work = shared_out(norm, static_cast<int>(pack));
    return std::ptrdiff_t{blocks(norm.pixels, static_cast<unsigned>(work.run))};
  };
  const std::ptrdiff_t images = norm.images;
  // Whole 16 bytes, so that what follows is aligned.
  const std::ptrdiff_t counters =
      std::ptrdiff_t{4} * blocks(std::max<std::ptrdiff_t>(images, k_most_shared_images), 4);
  return {.counters = counters,
          .affine = images * (norm.channels + norm.skip_channels),
          .moments = images * norm.groups * std::max(runs(1), runs(16 / item_size(norm.format)))};
}

template <class Value, int size>
void launch(const GroupNorm& norm, void* workspace, Stream stream) {
  const Workspace parts = workspace_of(norm);
  Work work = shared_out(norm, size);
  work.done = static_cast<unsigned*>(workspace);
  work.affine = reinterpret_cast<float2*>(work.done + parts.counters);
  work.moments = work.affine + parts.affine;
  const dim3 grid(blocks(norm.pixels, static_cast<unsigned>(work.run)),
                  static_cast<unsigned>(norm.images));
  NAVTALK_LAUNCH((statistics_kernel<Value, size>), grid, dim3(k_threads),
                 static_cast<std::size_t>(work.total) * sizeof(float2), stream, work);
  NAVTALK_LAUNCH((apply_kernel<Value, size>), grid, dim3(k_threads), 0, stream, work);
}

template <class Value>
void launch_widest(const GroupNorm& norm, void* workspace, Stream stream) {
  constexpr int k_pack = 16 / sizeof(Value);
  if (in_packs(norm, k_pack))
    launch<Value, k_pack>(norm, workspace, stream);
  else
    launch<Value, 1>(norm, workspace, stream);
}

}  // namespace

std::size_t group_norm_workspace_bytes(const GroupNorm& norm) { return workspace_of(norm).bytes(); }

void group_norm(const GroupNorm& norm, void* workspace, Stream stream) {
  const int total = norm.channels + norm.skip_channels;
  NAVTALK_CHECK(norm.groups > 0 && total > 0 && total % norm.groups == 0);
  NAVTALK_CHECK(total <= k_most_norm_channels && norm.images <= 65535);
  NAVTALK_CHECK(norm.skip_channels == 0 || (norm.skip != nullptr && norm.y != norm.x));
  if (norm.format == Format::fp16)
    launch_widest<__half>(norm, workspace, stream);
  else
    launch_widest<float>(norm, workspace, stream);
}

}  // namespace navtalk::cuda
