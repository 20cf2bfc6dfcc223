// A block makes 64x16 pixels of one frame, a thread 4x2 of them. Where a face shows in the block's pixels, the block first puts the
// resized face, and what the sharpening needs around it, into shared memory:
//
//   decoder output --bytes, bilinear--> shared [20][68] BGR --sharpen, blend with the frame's pixel--> luma, chroma of 2x2
//
// A face that gets the frame's colours is looked at once before: by blocks of the same pixels, which add up the seam, and by one block,
// which makes of the sums what becomes of each level.
#include "gpu/image/paste.h"

#include <algorithm>

#include "core/base/check.h"
#include "gpu/cuda/kernel.h"
#include "gpu/image/colour_match.h"
#include "gpu/image/device/color.h"
#include "gpu/image/device/sampling.h"
#include "gpu/image/device/unsharp.h"

namespace navtalk::cuda {
namespace {

constexpr int k_face = 256;
constexpr int k_columns = 64, k_rows = 16;  // of a block, in pixels
constexpr int k_wide = 4, k_high = 2;       // of a thread
constexpr int k_tile_columns = k_columns + 2 * k_unsharp_reach,
              k_tile_rows = k_rows + 2 * k_unsharp_reach;
constexpr int k_most_faces = 8;  // of one launch; they travel as its parameters

// What lies at FacePaste::match.
constexpr int k_seam_sums =
    13;  // pixels; then of each colour: sum and sum of squares in the face, and both in the frame
struct Match {
  unsigned long long sums[k_seam_sums];
  std::uint8_t levels[3][256];
};
static_assert(sizeof(Match) <= k_match_bytes);

struct Paste {
  FacePaste face;
  Box mask_place;  // where the mask lies in the frame
  Box shown;       // all that can change
  Box needed;      // `shown`, and the reach of the sharpening inside the face's box
  double scale_x, scale_y;
  bool sharpen;
  Sharpening sharpening;
};
struct Batch {
  Paste paste[k_most_faces];
  int width, height, face_channels;
  bool whole_words;
};

using Tile = std::uint8_t[k_tile_rows][k_tile_columns];  // of one colour

__device__ inline float as_float(float value) { return value; }
__device__ inline float as_float(__half value) { return __half2float(value); }

// RGB of the decoder to a level of BGR, as to_bgr_bytes() rounds it; NaN becomes 0.
template <class Value>
__device__ int face_level(const Value* face, int channels, int x, int y, int bgr) {
  const float value =
      as_float(face[(static_cast<std::ptrdiff_t>(y) * k_face + x) * channels + 2 - bgr]);
  const float share = fminf(fmaxf(__fadd_rn(__fmul_rn(value, 0.5F), 0.5F), 0.0F), 1.0F);
  return __float2int_rn(__fmul_rn(share, 255.0F));
}

struct Levels {
  std::uint8_t bgr[3];
};

// The resized face's pixel. Where it comes from is the same for its three colours.
template <class Value>
__device__ Levels resized(const Paste& paste, int channels, int x, int y) {
  const auto* face = static_cast<const Value*>(paste.face.face);
  const Box& box = paste.face.placement.box;
  Levels levels;
  if (box.x2 - box.x1 == k_face && box.y2 - box.y1 == k_face) {
    for (int c = 0; c < 3; ++c)
      levels.bgr[c] =
          static_cast<std::uint8_t>(face_level(face, channels, x - box.x1, y - box.y1, c));
    return levels;
  }
  const LinearTap across = column_tap(x - box.x1, paste.scale_x, k_face),
                  down = row_tap(y - box.y1, paste.scale_y, k_face);
  for (int c = 0; c < 3; ++c)
    levels.bgr[c] = static_cast<std::uint8_t>(
        bilinear(across, down, face_level(face, channels, across.first, down.first, c),
                 face_level(face, channels, across.second, down.first, c),
                 face_level(face, channels, across.first, down.second, c),
                 face_level(face, channels, across.second, down.second, c)));
  return levels;
}

// Reflects a coordinate into [begin, end), where the picture that is sharpened ends.
__device__ int inside(int at, int begin, int end) {
  return begin + reflected(at - begin, end - begin);
}

__device__ bool contains(const Box& box, int x, int y) {
  return x >= box.x1 && x < box.x2 && y >= box.y1 && y < box.y2;
}

// Whether the face shows in the pixels from (left, top): the same for all threads of the block.
__device__ bool shows(const Paste& paste, int left, int top) {
  return left < paste.shown.x2 && left + k_columns > paste.shown.x1 && top < paste.shown.y2 &&
         top + k_rows > paste.shown.y1;
}

// Each thread of the block puts some of the resized pixels into the tiles.
template <class Value>
__device__ void load_tiles(const Paste& paste, int channels, Tile* tiles, int left, int top) {
  const int self = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (int i = self; i < k_tile_rows * k_tile_columns;
       i += static_cast<int>(blockDim.x * blockDim.y)) {
    const int column = i % k_tile_columns, row = i / k_tile_columns;
    const int x = left + column - k_unsharp_reach, y = top + row - k_unsharp_reach;
    const bool used = x >= paste.shown.x1 - k_unsharp_reach &&
                      x < paste.shown.x2 + k_unsharp_reach &&
                      y >= paste.shown.y1 - k_unsharp_reach && y < paste.shown.y2 + k_unsharp_reach;
    if (!used) continue;
    const Levels levels =
        resized<Value>(paste, channels, inside(x, paste.needed.x1, paste.needed.x2),
                       inside(y, paste.needed.y1, paste.needed.y2));
    for (int c = 0; c < 3; ++c) tiles[c][row][column] = levels.bgr[c];
  }
}

// The face's pixel at (column, row) of the block's, sharpened where it is to be.
__device__ int face_at(const Paste& paste, const Tile& tile, int column, int row) {
  const std::uint8_t* around = &tile[row][column];  // the upper left of its neighbourhood
  return paste.sharpen ? sharpened(around, k_tile_columns, paste.sharpening)
                       : around[k_unsharp_reach * k_tile_columns + k_unsharp_reach];
}

__device__ int mask_at(const Paste& paste, int x, int y) {
  return paste.face
      .mask[(y - paste.mask_place.y1) * paste.face.mask_stride + x - paste.mask_place.x1];
}

// v + weight * (under - v), as much of the face as is seen.
__device__ int faded(int value, int under, float lips) {
  const float weight = __fadd_rn(1.0F, -lips);
  const float part = __fmul_rn(weight, static_cast<float>(under - value));
  return __float2int_rd(__fadd_rn(__fadd_rn(static_cast<float>(value), part), 0.5F));
}

// The frame's 2x2 pixels at (x, y) with the face on them; writes four values of luma and the pair of chroma.
__device__ void paste_quad(const Batch& batch, const Paste& paste, const Tile* tiles, int left,
                           int top, int x, int y) {
  const std::ptrdiff_t chroma =
      static_cast<std::ptrdiff_t>(batch.width) * (batch.height + y / 2) + x;
  const int u = paste.face.frame[chroma], v = paste.face.frame[chroma + 1];
  Bgr mean{0, 0, 0};
  std::uint8_t lumas[4];
  for (int i = 0; i < 4; ++i) {
    const int px = x + i % 2, py = y + i / 2;
    const Bgr under =
        from_yuv(paste.face.frame[static_cast<std::ptrdiff_t>(py) * batch.width + px], u, v);
    int values[3] = {level(under.b), level(under.g), level(under.r)};
    if (contains(paste.shown, px, py)) {
      const int share = mask_at(paste, px, py);
      const auto* match = static_cast<const Match*>(paste.face.match);
      for (int c = 0; c < 3; ++c) {
        int face = face_at(paste, tiles[c], px - left, py - top);
        if (match != nullptr) face = match->levels[c][face];
        const int blended = divided_by_255(values[c] * (255 - share) + face * share);
        values[c] = paste.face.lips < 1 ? faded(blended, values[c], paste.face.lips) : blended;
      }
    }
    const Bgr pixel{static_cast<float>(values[0]), static_cast<float>(values[1]),
                    static_cast<float>(values[2])};
    lumas[i] = luma(pixel);
    mean.b += 0.25F * pixel.b;
    mean.g += 0.25F * pixel.g;
    mean.r += 0.25F * pixel.r;
  }
  for (int i = 0; i < 4; ++i)
    paste.face.out[static_cast<std::ptrdiff_t>(y + i / 2) * batch.width + x + i % 2] = lumas[i];
  paste.face.out[chroma] = chroma_blue(mean);
  paste.face.out[chroma + 1] = chroma_red(mean);
}

__device__ void copy_row(const Batch& batch, const std::uint8_t* from, std::uint8_t* to,
                         std::ptrdiff_t at, int count) {
  if (batch.whole_words && count == k_wide) {
    *reinterpret_cast<std::uint32_t*>(to + at) = *reinterpret_cast<const std::uint32_t*>(from + at);
    return;
  }
  for (int i = 0; i < count; ++i) to[at + i] = from[at + i];
}

template <class Value>
__global__ void paste_kernel(const __grid_constant__ Batch batch) {
  __shared__ Tile tiles[3];
  const Paste& paste = batch.paste[blockIdx.z];
  const int left = static_cast<int>(blockIdx.x) * k_columns,
            top = static_cast<int>(blockIdx.y) * k_rows;
  if (shows(paste, left, top)) {
    load_tiles<Value>(paste, batch.face_channels, tiles, left, top);
    __syncthreads();
  }
  const int x = left + static_cast<int>(threadIdx.x) * k_wide,
            y = top + static_cast<int>(threadIdx.y) * k_high;
  if (x >= batch.width || y >= batch.height) return;
  const int wide = batch.width - x < k_wide ? batch.width - x : k_wide;
  const bool touched = x < paste.shown.x2 && x + wide > paste.shown.x1 && y < paste.shown.y2 &&
                       y + k_high > paste.shown.y1;
  if (!touched) {
    if (paste.face.frame == paste.face.out) return;
    const std::ptrdiff_t pitch = batch.width;
    copy_row(batch, paste.face.frame, paste.face.out, y * pitch + x, wide);
    copy_row(batch, paste.face.frame, paste.face.out, (y + 1) * pitch + x, wide);
    copy_row(batch, paste.face.frame, paste.face.out, pitch * (batch.height + y / 2) + x, wide);
    return;
  }
  for (int i = 0; i < wide; i += 2) {
    if (x + i < paste.shown.x2 && x + i + 2 > paste.shown.x1) {
      paste_quad(batch, paste, tiles, left, top, x + i, y);
    } else {
      copy_row(batch, paste.face.frame, paste.face.out,
               static_cast<std::ptrdiff_t>(y) * batch.width + x + i, 2);
      copy_row(batch, paste.face.frame, paste.face.out,
               static_cast<std::ptrdiff_t>(y + 1) * batch.width + x + i, 2);
      copy_row(batch, paste.face.frame, paste.face.out,
               static_cast<std::ptrdiff_t>(batch.width) * (batch.height + y / 2) + x + i, 2);
    }
  }
}

// A face a block.
__global__ void clear_kernel(const __grid_constant__ Batch batch) {
  auto* match = static_cast<Match*>(batch.paste[blockIdx.x].face.match);
  if (match != nullptr && threadIdx.x < k_seam_sums) match->sums[threadIdx.x] = 0;
}

// The pixels of a block whose mask is neither 0 nor 255.
template <class Value>
__global__ void seam_kernel(const __grid_constant__ Batch batch) {
  __shared__ Tile tiles[3];
  __shared__ unsigned block_sums[k_seam_sums];  // of 1024 pixels: no square of levels overflows
  const Paste& paste = batch.paste[blockIdx.z];
  const int left = static_cast<int>(blockIdx.x) * k_columns,
            top = static_cast<int>(blockIdx.y) * k_rows;
  if (paste.face.match == nullptr || !shows(paste, left, top)) return;
  const int self = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  if (self < k_seam_sums) block_sums[self] = 0;
  load_tiles<Value>(paste, batch.face_channels, tiles, left, top);
  __syncthreads();
  unsigned own[k_seam_sums] = {};
  for (int i = 0; i < k_wide * k_high; ++i) {
    const int x = left + static_cast<int>(threadIdx.x) * k_wide + i % k_wide,
              y = top + static_cast<int>(threadIdx.y) * k_high + i / k_wide;
    if (!contains(paste.shown, x, y)) continue;
    const int share = mask_at(paste, x, y);
    if (share == 0 || share == 255) continue;
    const std::ptrdiff_t pitch = batch.width;
    const std::uint8_t* chroma = paste.face.frame + pitch * (batch.height + y / 2) + x / 2 * 2;
    const Bgr under = from_yuv(paste.face.frame[y * pitch + x], chroma[0], chroma[1]);
    const unsigned frame[3] = {level(under.b), level(under.g), level(under.r)};
    ++own[0];
    for (int c = 0; c < 3; ++c) {
      const auto face = static_cast<unsigned>(face_at(paste, tiles[c], x - left, y - top));
      own[1 + c] += face;
      own[4 + c] += face * face;
      own[7 + c] += frame[c];
      own[10 + c] += frame[c] * frame[c];
    }
  }
  if (own[0] > 0) {
    for (int i = 0; i < k_seam_sums; ++i) atomicAdd(&block_sums[i], own[i]);
  }
  __syncthreads();
  auto* match = static_cast<Match*>(paste.face.match);
  if (self < k_seam_sums && block_sums[self] > 0)
    atomicAdd(&match->sums[self], static_cast<unsigned long long>(block_sums[self]));
}

// Whole numbers, as whether a deviation is below one level must not depend on how it was rounded.
__device__ unsigned long long spread(const unsigned long long* sums, int sum, int squares) {
  return sums[squares] * sums[0] - sums[sum] * sums[sum];
}

// A face a block, a level a thread.
__global__ void levels_kernel(const __grid_constant__ Batch batch) {
  auto* match = static_cast<Match*>(batch.paste[blockIdx.x].face.match);
  if (match == nullptr) return;
  const int self = static_cast<int>(threadIdx.x);
  const unsigned long long pixels = match->sums[0];
  const auto count = static_cast<double>(pixels);
  for (int c = 0; c < 3; ++c) {
    if (pixels < k_least_seam || pixels > k_most_seam) {
      match->levels[c][self] = static_cast<std::uint8_t>(self);
      continue;
    }
    const auto face = static_cast<double>(match->sums[1 + c]),
               frame = static_cast<double>(match->sums[7 + c]);
    const unsigned long long has = spread(match->sums, 1 + c, 4 + c),
                             wanted = spread(match->sums, 7 + c, 10 + c);
    double gain = 1;
    if (has >= pixels * pixels && wanted >= pixels * pixels)
      gain = fmin(
          fmax(sqrt(static_cast<double>(wanted) / static_cast<double>(has)), 1.0 / k_most_gain),
          double{k_most_gain});
    const double shift =
        fmin(fmax((frame - face) / count, -double{k_most_shift}), double{k_most_shift});
    const double mean = face / count;
    const double value = gain * (self - mean) + (mean + shift);
    match->levels[c][self] = static_cast<std::uint8_t>(fmin(fmax(value, 0.0), 255.0) + 0.5);
  }
}

bool aligned(const FacePaste& face) {
  return reinterpret_cast<std::uintptr_t>(face.frame) % k_wide == 0 &&
         reinterpret_cast<std::uintptr_t>(face.out) % k_wide == 0;
}

Paste placed(const FacePaste& face, int width, int height) {
  const Box& box = face.placement.box;
  const Box& crop = face.placement.crop_box;
  NAVTALK_CHECK(!box.empty());
  NAVTALK_CHECK(reinterpret_cast<std::uintptr_t>(face.match) % alignof(Match) == 0);
  Paste paste{face,
              face.mask_region.moved(crop.x1, crop.y1),
              {},
              {},
              0,
              0,
              face.unsharp.has_value(),
              make_sharpening(face.unsharp.value_or(Unsharp{}))};
  paste.shown = intersection(intersection(box, intersection(paste.mask_place, crop)),
                             Box{0, 0, width, height});
  const Box grown{paste.shown.x1 - k_unsharp_reach, paste.shown.y1 - k_unsharp_reach,
                  paste.shown.x2 + k_unsharp_reach, paste.shown.y2 + k_unsharp_reach};
  paste.needed = intersection(grown, box);
  if (paste.shown.empty()) paste.shown = {};
  paste.scale_x = sampling_scale(k_face, box.width());
  paste.scale_y = sampling_scale(k_face, box.height());
  return paste;
}

template <class Value>
void launch(const Batch& batch, unsigned faces, Stream stream) {
  const dim3 block(k_columns / k_wide, k_rows / k_high);
  const dim3 grid(blocks(batch.width, k_columns), blocks(batch.height, k_rows), faces);
  const bool match = std::any_of(batch.paste, batch.paste + faces,
                                 [](const Paste& one) { return one.face.match != nullptr; });
  if (match) {
    NAVTALK_LAUNCH(clear_kernel, dim3(faces), dim3(32), 0, stream, batch);
    NAVTALK_LAUNCH(seam_kernel<Value>, grid, block, 0, stream, batch);
    NAVTALK_LAUNCH(levels_kernel, dim3(faces), dim3(256), 0, stream, batch);
  }
  NAVTALK_LAUNCH(paste_kernel<Value>, grid, block, 0, stream, batch);
}

}  // namespace

void paste_faces(std::span<const FacePaste> faces, int width, int height, Format format,
                 int face_channels, Stream stream) {
  NAVTALK_CHECK(width > 0 && height > 0 && width % 2 == 0 && height % 2 == 0 && face_channels >= 3);
  for (std::size_t first = 0; first < faces.size(); first += k_most_faces) {
    const std::span<const FacePaste> some =
        faces.subspan(first, std::min<std::size_t>(k_most_faces, faces.size() - first));
    Batch batch{};
    batch.width = width;
    batch.height = height;
    batch.face_channels = face_channels;
    batch.whole_words = width % k_wide == 0 && std::all_of(some.begin(), some.end(), aligned);
    for (std::size_t i = 0; i < some.size(); ++i) batch.paste[i] = placed(some[i], width, height);
    const auto count = static_cast<unsigned>(some.size());
    format == Format::fp16 ? launch<__half>(batch, count, stream)
                           : launch<float>(batch, count, stream);
  }
}

}  // namespace navtalk::cuda
