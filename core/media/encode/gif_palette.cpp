#include "core/media/encode/gif_palette.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace navtalk::media {
namespace {

constexpr int k_bits = 5, k_levels = 1 << k_bits, k_step = 256 / k_levels;
constexpr std::size_t k_own = 191;  // and 64 of the grid: one of 256 stays free, for "unchanged"
constexpr int k_grid = 4;
constexpr int k_amplitude = 12;  // of the dither, in levels of 256

// Thresholds of ordered dithering, 0 to 15 (Bayer).
constexpr int k_bayer[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};

struct Cell {
  std::array<std::uint8_t, 3> level{};  // B, G, R, below k_levels
  std::int64_t pixels = 0;
};

int cell_of(int b, int g, int r) {
  const auto level = [](int value) { return std::clamp(value, 0, 255) / k_step; };
  return (level(b) << (2 * k_bits)) | (level(g) << k_bits) | level(r);
}

std::array<std::uint8_t, 3> levels_of(int cell) {
  const auto part = [cell](int shift) {
    return static_cast<std::uint8_t>((cell >> shift) & (k_levels - 1));
  };
  return {part(2 * k_bits), part(k_bits), part(0)};
}

std::vector<Cell> cells_of(ConstImageView bgr) {
  std::vector<std::int64_t> count(std::size_t{1} << (3 * k_bits));
  for (int y = 0; y < bgr.height; ++y) {
    const std::uint8_t* pixel = bgr.row(y);
    for (int x = 0; x < bgr.width; ++x, pixel += 3)
      ++count[static_cast<std::size_t>(cell_of(pixel[0], pixel[1], pixel[2]))];
  }
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < count.size(); ++i)
    if (count[i] > 0) cells.push_back({levels_of(static_cast<int>(i)), count[i]});
  return cells;
}

struct Part {
  std::span<Cell> cells;
  std::size_t channel = 0;  // the widest
  int width = 0;
  std::int64_t pixels = 0;
};

Part part_of(std::span<Cell> cells) {
  Part part{.cells = cells};
  for (std::size_t c = 0; c < 3; ++c) {
    const auto [low, high] =
        std::ranges::minmax(cells, {}, [c](const Cell& cell) { return cell.level[c]; });
    const int width = high.level[c] - low.level[c];
    if (width <= part.width) continue;
    part.width = width;
    part.channel = c;
  }
  for (const Cell& cell : cells) part.pixels += cell.pixels;
  return part;
}

// Two parts with about half of the pixels each.
std::pair<Part, Part> halves(const Part& part) {
  std::ranges::sort(part.cells, {}, [&](const Cell& cell) { return cell.level[part.channel]; });
  std::int64_t before = 0;
  std::size_t at = 0;
  while (at + 1 < part.cells.size() && 2 * (before + part.cells[at].pixels) <= part.pixels)
    before += part.cells[at++].pixels;
  at = std::clamp<std::size_t>(at, 1, part.cells.size() - 1);
  return {part_of(part.cells.first(at)), part_of(part.cells.subspan(at))};
}

std::array<std::uint8_t, 3> mean_of(const Part& part) {
  std::array<std::uint8_t, 3> mean{};
  for (std::size_t c = 0; c < 3; ++c) {
    std::int64_t sum = 0;
    for (const Cell& cell : part.cells) sum += cell.pixels * (k_step * cell.level[c] + k_step / 2);
    mean[c] = static_cast<std::uint8_t>(sum / part.pixels);
  }
  return mean;
}

// Parts that are wide count more than their pixels alone would: eyes and lips are small.
double worth(const Part& part) {
  return part.width == 0 ? 0
                         : static_cast<double>(part.width) * part.width *
                               std::sqrt(static_cast<double>(part.pixels));
}

}  // namespace

GifPalette::GifPalette(ConstImageView bgr) : known_(std::size_t{1} << (3 * k_bits), -1) {
  std::vector<Cell> cells = cells_of(bgr);
  std::vector<Part> parts = {part_of(cells)};
  while (parts.size() < k_own) {
    const auto widest = std::ranges::max_element(parts, {}, worth);
    if (worth(*widest) <= 0) break;
    const auto [low, high] = halves(*widest);
    *widest = low;
    parts.push_back(high);
  }
  for (const Part& part : parts) colours_.push_back(mean_of(part));
  const auto level = [](int i) { return static_cast<std::uint8_t>(255 * i / (k_grid - 1)); };
  for (int i = 0; i < k_grid * k_grid * k_grid; ++i)
    colours_.push_back(
        {level(i / (k_grid * k_grid)), level(i / k_grid % k_grid), level(i % k_grid)});
}

std::uint8_t GifPalette::nearest(int cell) {
  std::int16_t& known = known_[static_cast<std::size_t>(cell)];
  if (known >= 0) return static_cast<std::uint8_t>(known);
  const std::array<std::uint8_t, 3> level = levels_of(cell);
  int least = std::numeric_limits<int>::max();
  for (std::size_t i = 0; i < colours_.size(); ++i) {
    int distance = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const int difference = k_step * level[c] + k_step / 2 - colours_[i][c];
      distance += difference * difference;
    }
    if (distance >= least) continue;
    least = distance;
    known = static_cast<std::int16_t>(i);
  }
  return static_cast<std::uint8_t>(known);
}

void GifPalette::convert(ConstImageView bgr, AVFrame& frame) {
  auto* palette = reinterpret_cast<std::uint32_t*>(frame.data[1]);
  std::fill_n(palette, 256, 0U);  // transparent
  for (std::size_t i = 0; i < colours_.size(); ++i)
    palette[i] = 0xff000000U | static_cast<std::uint32_t>(colours_[i][2]) << 16U |
                 static_cast<std::uint32_t>(colours_[i][1]) << 8U | colours_[i][0];
  for (int y = 0; y < bgr.height; ++y) {
    const std::uint8_t* pixel = bgr.row(y);
    std::uint8_t* to = frame.data[0] + std::ptrdiff_t{y} * frame.linesize[0];
    for (int x = 0; x < bgr.width; ++x, pixel += 3) {
      const int shift = (2 * k_bayer[y % 4][x % 4] - 15) * k_amplitude / 32;
      to[x] = nearest(cell_of(pixel[0] + shift, pixel[1] + shift, pixel[2] + shift));
    }
  }
}

}  // namespace navtalk::media
