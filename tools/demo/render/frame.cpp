#include "tools/demo/render/frame.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <thread>

#include "tools/demo/render/shading.h"

namespace render {
namespace {

struct Offset {
  float x, y;  // in pixels, from the pixel's middle
};

// Rotated grids: no two samples share a row or a column.
constexpr Offset k_four[] = {
    {-0.375f, -0.125f}, {0.125f, -0.375f}, {0.375f, 0.125f}, {-0.125f, 0.375f}};
constexpr Offset k_eight[] = {{-0.4375f, 0.0625f},  {-0.3125f, -0.3125f}, {-0.1875f, 0.4375f},
                              {-0.0625f, -0.0625f}, {0.0625f, -0.4375f},  {0.1875f, 0.1875f},
                              {0.3125f, -0.1875f},  {0.4375f, 0.3125f}};
constexpr float k_edge = 0.035f, k_strong_edge = 0.16f;  // contrast within a block

// Two passes over blocks of pixels: one ray a pixel; then, where a block or its border has
// contrast, four or eight.
class Painter {
 public:
  Painter(const Scene& scene, View view, int size)
      : scene_(scene),
        view_(view),
        size_(size),
        first_(static_cast<std::size_t>(size) * size * 3),
        image_(first_.size()) {}

  int block_rows() const { return size_ / k_block_height; }

  void first_pass(int block_row) {
    for (int x = 0; x < size_; x += k_block_width) {
      const Vec colour = sample(x, block_row * k_block_height, {0, 0});
      for (int lane = 0; lane < k_lanes; ++lane) {
        float* pixel = &first_[index(x + lane % k_block_width,
                                     block_row * k_block_height + lane / k_block_width)];
        pixel[0] = colour.x[lane];
        pixel[1] = colour.y[lane];
        pixel[2] = colour.z[lane];
      }
    }
  }

  void second_pass(int block_row) {
    const int y = block_row * k_block_height;
    for (int x = 0; x < size_; x += k_block_width) {
      const float contrast = contrast_around(x, y);
      if (contrast > k_strong_edge)
        write(x, y, average(x, y, k_eight));
      else if (contrast > k_edge)
        write(x, y, average(x, y, k_four));
      else
        copy(x, y);
    }
  }

  std::vector<std::uint8_t> take() { return std::move(image_); }

 private:
  std::size_t index(int x, int y) const { return (static_cast<std::size_t>(y) * size_ + x) * 3; }

  Vec sample(int x, int y, Offset offset) const {
    const float pixel = 2 * view_.half / size_;
    Lanes u = {}, v = {};
    for (int lane = 0; lane < k_lanes; ++lane) {
      u[lane] = view_.x - view_.half + (x + lane % k_block_width + 0.5f + offset.x) * pixel;
      v[lane] = view_.y + view_.half - (y + lane / k_block_width + 0.5f + offset.y) * pixel;
    }
    return colour_at(scene_, u, v);
  }

  Vec average(int x, int y, std::span<const Offset> offsets) const {
    Vec sum = {};
    for (const Offset& offset : offsets) sum = sum + sample(x, y, offset);
    return sum * (1.0f / static_cast<float>(offsets.size()));
  }

  float contrast_around(int x, int y) const {
    float low = 9, high = -9;
    for (int j = std::max(y - 1, 0); j <= std::min(y + k_block_height, size_ - 1); ++j) {
      for (int i = std::max(x - 1, 0); i <= std::min(x + k_block_width, size_ - 1); ++i) {
        const float* p = &first_[index(i, j)];
        const float light = 0.4f * p[0] + 0.4f * p[1] + 0.2f * p[2];
        low = std::min(low, light);
        high = std::max(high, light);
      }
    }
    return high - low;
  }

  static std::uint8_t byte(float value) {
    return static_cast<std::uint8_t>(std::clamp(value * 255 + 0.5f, 0.0f, 255.0f));
  }

  void write(int x, int y, Vec colour) {
    for (int lane = 0; lane < k_lanes; ++lane) {
      std::uint8_t* pixel = &image_[index(x + lane % k_block_width, y + lane / k_block_width)];
      pixel[0] = byte(colour.x[lane]);
      pixel[1] = byte(colour.y[lane]);
      pixel[2] = byte(colour.z[lane]);
    }
  }

  void copy(int x, int y) {
    for (int j = y; j < y + k_block_height; ++j) {
      const std::size_t start = index(x, j);
      for (std::size_t i = start; i < start + 3 * k_block_width; ++i) image_[i] = byte(first_[i]);
    }
  }

  const Scene& scene_;
  View view_;
  int size_;
  std::vector<float> first_;  // one ray a pixel
  std::vector<std::uint8_t> image_;
};

// Calls work(0 .. count - 1), each once, from `threads` threads.
template <class Work>
void spread(int threads, int count, Work work) {
  std::atomic<int> next = 0;
  const auto take = [&] {
    for (int i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(take);
  take();
}

}  // namespace

std::vector<std::uint8_t> render_frame(const Scene& scene, View view, int size, int threads) {
  Painter painter(scene, view, size);
  spread(threads, painter.block_rows(), [&](int row) { painter.first_pass(row); });
  spread(threads, painter.block_rows(), [&](int row) { painter.second_pass(row); });
  return painter.take();
}

}  // namespace render
