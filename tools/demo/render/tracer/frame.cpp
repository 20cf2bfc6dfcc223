#include "tools/demo/render/tracer/frame.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <thread>
#include <utility>

#include "tools/demo/render/tracer/shading.h"

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
constexpr float k_edge = 0.035f, k_strong_edge = 0.16f;  // contrast between neighbours
constexpr int k_block = 4;                               // pixels that share a first march

// Three passes over bands of k_block rows: how far each block's rays are free; one ray a pixel;
// then, where a pixel differs from its neighbours, four or eight.
class Painter {
 public:
  Painter(const Scene& scene, View view, int size)
      : scene_(scene),
        view_(view),
        size_(size),
        free_(static_cast<std::size_t>(size / k_block) * (size / k_block)),
        first_(static_cast<std::size_t>(size) * size * 3),
        image_(first_.size()) {}

  int bands() const { return size_ / k_block; }

  void find_free_ways(int band) {
    const float radius = 0.75f * k_block * pixel();  // half a block's diagonal, and a little more
    for (int first = 0; first < bands(); first += k_lanes) {
      Lanes u = {}, v = {};
      for (int lane = 0; lane < k_lanes; ++lane) {
        const float middle = 0.5f * k_block - 0.5f;
        u[lane] = u_at(static_cast<float>(std::min(first + lane, bands() - 1) * k_block) + middle);
        v[lane] = v_at(static_cast<float>(band * k_block) + middle);
      }
      const Lanes way = free_way(scene_, u, v, radius);
      for (int lane = 0; lane < k_lanes && first + lane < bands(); ++lane)
        free_[static_cast<std::size_t>(band) * bands() + first + lane] = way[lane];
    }
  }

  void paint(int band) {
    Packet packet;
    for (int y = band * k_block; y < (band + 1) * k_block; y += k_block_height) {
      for (int x = 0; x < size_; x += k_block_width) {
        for (int lane = 0; lane < k_lanes; ++lane)
          add(packet, x + lane % k_block_width, y + lane / k_block_width, {0, 0});
        const Vec colour = take_colours(packet);
        for (int lane = 0; lane < k_lanes; ++lane) {
          float* p = &first_[index(x + lane % k_block_width, y + lane / k_block_width)];
          p[0] = colour.x[lane];
          p[1] = colour.y[lane];
          p[2] = colour.z[lane];
        }
      }
    }
  }

  void refine(int band) {
    std::vector<Pixel> some, many;
    for (int y = band * k_block; y < (band + 1) * k_block; ++y) {
      for (int x = 0; x < size_; ++x) {
        const float contrast = contrast_around(x, y);
        if (contrast > k_strong_edge)
          many.push_back({x, y});
        else if (contrast > k_edge)
          some.push_back({x, y});
        else
          write({x, y}, &first_[index(x, y)], 1.0f);
      }
    }
    refine(some, k_four);
    refine(many, k_eight);
  }

  std::vector<std::uint8_t> take() { return std::move(image_); }

 private:
  struct Pixel {
    int x, y;
  };
  struct Packet {
    Lanes u = {}, v = {}, start = {};
    int count = 0;
  };

  std::size_t index(int x, int y) const { return (static_cast<std::size_t>(y) * size_ + x) * 3; }
  float pixel() const { return 2 * view_.half / size_; }
  float u_at(float x) const { return view_.x - view_.half + (x + 0.5f) * pixel(); }
  float v_at(float y) const { return view_.y + view_.half - (y + 0.5f) * pixel(); }

  void add(Packet& packet, int x, int y, Offset offset) const {
    packet.u[packet.count] = u_at(x + offset.x);
    packet.v[packet.count] = v_at(y + offset.y);
    packet.start[packet.count] =
        free_[static_cast<std::size_t>(y / k_block) * bands() + x / k_block];
    ++packet.count;
  }

  // A packet that is not full repeats its first ray.
  Vec take_colours(Packet& packet) const {
    for (; packet.count < k_lanes; ++packet.count) {
      packet.u[packet.count] = packet.u[0];
      packet.v[packet.count] = packet.v[0];
      packet.start[packet.count] = packet.start[0];
    }
    packet.count = 0;
    return colour_at(scene_, packet.u, packet.v, packet.start);
  }

  // The samples of neighbouring pixels, a packet at a time, summed up and written.
  void refine(const std::vector<Pixel>& pixels, std::span<const Offset> offsets) {
    std::vector<float> sums(pixels.size() * 3);
    Packet packet;
    std::size_t owners[k_lanes];
    const auto flush = [&] {
      const int count = packet.count;
      const Vec colour = take_colours(packet);
      for (int lane = 0; lane < count; ++lane) {
        float* sum = &sums[owners[lane] * 3];
        sum[0] += colour.x[lane];
        sum[1] += colour.y[lane];
        sum[2] += colour.z[lane];
      }
    };
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      for (const Offset& offset : offsets) {
        owners[packet.count] = i;
        add(packet, pixels[i].x, pixels[i].y, offset);
        if (packet.count == k_lanes) flush();
      }
    }
    if (packet.count > 0) flush();
    for (std::size_t i = 0; i < pixels.size(); ++i)
      write(pixels[i], &sums[i * 3], 1.0f / static_cast<float>(offsets.size()));
  }

  float contrast_around(int x, int y) const {
    float low = 9, high = -9;
    for (int j = std::max(y - 1, 0); j <= std::min(y + 1, size_ - 1); ++j) {
      for (int i = std::max(x - 1, 0); i <= std::min(x + 1, size_ - 1); ++i) {
        const float* p = &first_[index(i, j)];
        const float light = 0.4f * p[0] + 0.4f * p[1] + 0.2f * p[2];
        low = std::min(low, light);
        high = std::max(high, light);
      }
    }
    return high - low;
  }

  void write(Pixel at, const float* colour, float scale) {
    std::uint8_t* p = &image_[index(at.x, at.y)];
    for (int i = 0; i < 3; ++i)
      p[i] = static_cast<std::uint8_t>(std::clamp(colour[i] * scale * 255 + 0.5f, 0.0f, 255.0f));
  }

  const Scene& scene_;
  View view_;
  int size_;
  std::vector<float> free_;   // [bands, bands]
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
  spread(threads, painter.bands(), [&](int band) { painter.find_free_ways(band); });
  spread(threads, painter.bands(), [&](int band) { painter.paint(band); });
  spread(threads, painter.bands(), [&](int band) { painter.refine(band); });
  return painter.take();
}

}  // namespace render
