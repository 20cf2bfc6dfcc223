#include "avatars/faces/shape_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/checkpoint/mapped_file.h"

namespace navtalk {
namespace {

constexpr std::uint64_t k_most_points = 1000, k_most_levels = 100, k_most_trees = 10'000,
                        k_most_probes = 10'000, k_most_depth = 12;

}  // namespace

// dlib's serialization: whole numbers as a byte that says sign and length and that many bytes, the lowest first; floating point
// numbers as a mantissa and a power of two; lists with their length before them.
class ShapePredictorReader {
 public:
  ShapePredictorReader(std::string name, std::span<const std::byte> bytes)
      : name_(std::move(name)), bytes_(bytes) {}

  ShapePredictor read() {
    if (integer() != 1) refuse("its version is not 1");
    ShapePredictor result;
    result.mean_ = shape("the mean shape", 0);
    points_ = result.mean_.size();
    result.levels_.resize(count("levels", k_most_levels));
    for (auto& level : result.levels_) read_trees(level);
    if (count("levels", k_most_levels) != result.levels_.size()) refuse("anchors for other levels");
    for (auto& level : result.levels_) read_anchors(level);
    if (count("levels", k_most_levels) != result.levels_.size()) refuse("offsets for other levels");
    for (auto& level : result.levels_) read_offsets(level);
    if (at_ != bytes_.size()) refuse("there is more behind its end");
    for (const auto& level : result.levels_) check(level);
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Code::invalid, fmt::format("{}: no shape predictor: {}", name_, what));
  }

  std::uint8_t byte() {
    if (at_ >= bytes_.size()) refuse("it ends early");
    return std::to_integer<std::uint8_t>(bytes_[at_++]);
  }

  std::int64_t integer() {
    const std::uint8_t head = byte();
    const int length = head & 0x0F;
    if (length < 1 || length > 8) refuse(fmt::format("a number of {} bytes", length));
    std::uint64_t value = 0;
    for (int i = 0; i < length; ++i) value |= std::uint64_t{byte()} << (8 * i);
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      refuse("a number that is too large");
    const auto plain = static_cast<std::int64_t>(value);
    return (head & 0x80) != 0 ? -plain : plain;
  }

  std::uint64_t count(const char* what, std::uint64_t most) {
    const std::int64_t value = integer();
    if (value < 1 || static_cast<std::uint64_t>(value) > most)
      refuse(fmt::format("{} {}: 1 to {} are possible", value, what, most));
    return static_cast<std::uint64_t>(value);
  }

  std::uint32_t index(const char* what, std::uint64_t end) {
    const std::int64_t value = integer();
    if (value < 0 || static_cast<std::uint64_t>(value) >= end)
      refuse(fmt::format("{} {} of {}", what, value, end));
    return static_cast<std::uint32_t>(value);
  }

  float number() {
    const std::int64_t mantissa = integer(), exponent = integer();
    const double value = exponent >= -1100 && exponent <= 1100
                             ? std::ldexp(static_cast<double>(mantissa), static_cast<int>(exponent))
                             : std::numeric_limits<double>::infinity();
    if (!(std::abs(value) <= double{std::numeric_limits<float>::max()}))
      refuse("a number that is not finite");
    return static_cast<float>(value);
  }

  // x and y of each point, one below the other; `points`: how many, 0 for any.
  Shape2d shape(const char* what, std::size_t points) {
    // Sizes of matrices are written as negative numbers.
    const std::int64_t rows = std::abs(integer()), columns = std::abs(integer());
    if (columns != 1 || rows % 2 != 0 || rows < 2 ||
        static_cast<std::uint64_t>(rows) > 2 * k_most_points ||
        (points != 0 && static_cast<std::size_t>(rows) != 2 * points))
      refuse(fmt::format("{} is {}x{}", what, rows, columns));
    Shape2d result(static_cast<std::size_t>(rows) / 2);
    for (ShapePoint& point : result) {
      point.x = number();
      point.y = number();
    }
    return result;
  }

  void read_trees(ShapePredictor::Level& level) {
    level.trees.resize(count("trees", k_most_trees));
    for (auto& tree : level.trees) {
      tree = {.first_split = static_cast<std::uint32_t>(level.splits.size()),
              .first_leaf = static_cast<std::uint32_t>(level.leaves.size())};
      const std::uint64_t splits = count("splits", (1U << k_most_depth) - 1);
      std::uint32_t depth = 0;
      while ((std::uint64_t{1} << depth) - 1 < splits) ++depth;
      if ((std::uint64_t{1} << depth) - 1 != splits || (level.depth != 0 && level.depth != depth))
        refuse(fmt::format("a tree of {} splits", splits));
      level.depth = depth;
      for (std::uint64_t i = 0; i < splits; ++i) {
        const std::uint32_t one = index("pixel", k_most_probes),
                            other = index("pixel", k_most_probes);
        level.splits.push_back({.one = one, .other = other, .threshold = number()});
      }
      if (count("leaves", splits + 1) != splits + 1) refuse("a tree without all of its leaves");
      for (std::uint64_t i = 0; i <= splits; ++i) {
        const Shape2d leaf = shape("a leaf", points_);
        level.leaves.insert(level.leaves.end(), leaf.begin(), leaf.end());
      }
    }
  }

  void read_anchors(ShapePredictor::Level& level) {
    level.probes.resize(count("pixels", k_most_probes));
    for (auto& probe : level.probes) probe.point = index("point", points_);
  }

  void read_offsets(ShapePredictor::Level& level) {
    if (count("pixels", k_most_probes) != level.probes.size()) refuse("offsets of other pixels");
    for (auto& probe : level.probes) {
      probe.offset.x = number();
      probe.offset.y = number();
    }
  }

  void check(const ShapePredictor::Level& level) const {
    for (const auto& split : level.splits)
      if (std::max(split.one, split.other) >= level.probes.size())
        refuse(
            fmt::format("pixel {} of {}", std::max(split.one, split.other), level.probes.size()));
  }

  std::string name_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0, points_ = 0;
};

namespace {

// Turns and scales: (x, y) to (a x - b y, b x + a y).
struct Turn {
  float a = 1, b = 0;
};

ShapePoint centre_of(const Shape2d& shape) {
  double x = 0, y = 0;
  for (const ShapePoint& point : shape) {
    x += point.x;
    y += point.y;
  }
  const auto count = static_cast<double>(shape.size());
  return {static_cast<float>(x / count), static_cast<float>(y / count)};
}

// The least squares turn and scale from one shape to another.
Turn turn_between(const Shape2d& from, const Shape2d& to) {
  const ShapePoint centre = centre_of(from), other = centre_of(to);
  double along = 0, across = 0, size = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double x = from[i].x - centre.x, y = from[i].y - centre.y;
    const double u = to[i].x - other.x, v = to[i].y - other.y;
    along += x * u + y * v;
    across += x * v - y * u;
    size += x * x + y * y;
  }
  if (size <= 0) return {};
  return {static_cast<float>(along / size), static_cast<float>(across / size)};
}

// The mean of a pixel's channels, cut to a whole number as dlib does; 0 outside of the picture.
float brightness(ConstImageView picture, double x, double y) {
  const double column = std::floor(x + 0.5), row = std::floor(y + 0.5);
  if (!(column >= 0 && row >= 0 && column < picture.width && row < picture.height)) return 0;
  const std::uint8_t* pixel = picture.at(static_cast<int>(column), static_cast<int>(row));
  return static_cast<float>((pixel[0] + pixel[1] + pixel[2]) / 3);
}

double spread(const Shape2d& shape, const ShapePoint& centre) {
  double sum = 0;
  for (const ShapePoint& point : shape) {
    const double x = point.x - centre.x, y = point.y - centre.y;
    sum += x * x + y * y;
  }
  return std::sqrt(sum);
}

}  // namespace

ShapePredictor ShapePredictor::read(const std::filesystem::path& file) {
  const MappedFile mapped = MappedFile::open(file, std::uint64_t{512} << 20);
  ShapePredictor result = ShapePredictorReader(file.string(), mapped.bytes()).read();
  mapped.check();
  return result;
}

Shape2d ShapePredictor::points(ConstImageView picture, const ShapeFrame& frame) const {
  Shape2d shape = mean_;
  std::vector<float> seen;
  for (const Level& level : levels_) {
    const Turn turn = turn_between(mean_, shape);
    seen.clear();
    for (const Probe& probe : level.probes) {
      const ShapePoint& from = shape[probe.point];
      const float x = turn.a * probe.offset.x - turn.b * probe.offset.y + from.x;
      const float y = turn.b * probe.offset.x + turn.a * probe.offset.y + from.y;
      seen.push_back(
          brightness(picture, frame.x + double{x} * frame.size, frame.y + double{y} * frame.size));
    }
    for (const Tree& tree : level.trees) {
      std::size_t node = 0;
      for (std::uint32_t depth = 0; depth < level.depth; ++depth) {
        const Split& split = level.splits[tree.first_split + node];
        node = 2 * node + (seen[split.one] - seen[split.other] > split.threshold ? 1 : 2);
      }
      const std::size_t leaf = node - ((std::size_t{1} << level.depth) - 1);
      const ShapePoint* step = level.leaves.data() + tree.first_leaf + leaf * shape.size();
      for (ShapePoint& point : shape) {
        point.x += step->x;
        point.y += step->y;
        ++step;
      }
    }
  }
  for (ShapePoint& point : shape) {
    point.x = static_cast<float>(frame.x + double{point.x} * frame.size);
    point.y = static_cast<float>(frame.y + double{point.y} * frame.size);
  }
  return shape;
}

ShapeFrame ShapePredictor::frame_of(const Shape2d& points) const {
  const ShapePoint mean = centre_of(mean_), centre = centre_of(points);
  const double size = spread(points, centre) / spread(mean_, mean);
  return {.x = centre.x - mean.x * size, .y = centre.y - mean.y * size, .size = size};
}

}  // namespace navtalk
