// Small shape predictors in dlib's format, written byte by byte.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "avatars/faces/shape_predictor.h"

namespace navtalk::tests {

class DlibBytes {
 public:
  void integer(std::int64_t value) {
    std::uint64_t rest =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    std::string bytes;
    do {
      bytes += static_cast<char>(rest & 0xFF);
      rest >>= 8;
    } while (rest != 0);
    text_ += static_cast<char>(bytes.size() | (value < 0 ? 0x80U : 0U));
    text_ += bytes;
  }
  void number(double value) {
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    integer(static_cast<std::int64_t>(std::ldexp(mantissa, 24)));
    integer(exponent - 24);
  }
  // Sizes of matrices are negative.
  void shape(const Shape2d& points) {
    integer(-static_cast<std::int64_t>(2 * points.size()));
    integer(-1);
    for (const ShapePoint& point : points) {
      number(double{point.x});
      number(double{point.y});
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_{};
};

struct TestTree {
  std::int64_t one = 0, other = 0;
  double threshold = 0;
  Shape2d left{},
      right{};  // left where pixel `one` is brighter than `other` by more than the threshold
};
struct TestProbe {
  std::int64_t point = 0;
  ShapePoint offset{};
};
struct TestLevel {
  std::vector<TestTree> trees{};
  std::vector<TestProbe> probes{};
};

inline std::string shape_bytes(const Shape2d& mean, const std::vector<TestLevel>& levels) {
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  DlibBytes bytes;
  bytes.integer(1);  // version
  bytes.shape(mean);
  bytes.integer(count(levels));
  for (const TestLevel& level : levels) {
    bytes.integer(count(level.trees));
    for (const TestTree& tree : level.trees) {
      bytes.integer(1);  // split
      bytes.integer(tree.one);
      bytes.integer(tree.other);
      bytes.number(tree.threshold);
      bytes.integer(2);  // leaves
      bytes.shape(tree.left);
      bytes.shape(tree.right);
    }
  }
  bytes.integer(count(levels));
  for (const TestLevel& level : levels) {
    bytes.integer(count(level.probes));
    for (const TestProbe& probe : level.probes) bytes.integer(probe.point);
  }
  bytes.integer(count(levels));
  for (const TestLevel& level : levels) {
    bytes.integer(count(level.probes));
    for (const TestProbe& probe : level.probes) {
      bytes.number(double{probe.offset.x});
      bytes.number(double{probe.offset.y});
    }
  }
  return bytes.text();
}

inline std::filesystem::path write_shape_file(const std::filesystem::path& file,
                                              const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

}  // namespace navtalk::tests
