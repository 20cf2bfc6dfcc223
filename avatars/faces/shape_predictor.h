// Landmarks by ensembles of regression trees, from the files of dlib's shape predictor (Debian's libdlib-data has one of 68 points of
// a face). Kazemi and Sullivan, "One Millisecond Face Alignment with an Ensemble of Regression Trees", 2014.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/tensor/image.h"

namespace navtalk {

struct ShapePoint {
  float x = 0, y = 0;
};
using Shape2d = std::vector<ShapePoint>;

// In pixels, may reach outside of the picture.
struct ShapeFrame {
  double x = 0, y = 0, size = 0;  // top left corner of the face's square, its side
};

class ShapePredictor {
 public:
  // Error{not_found}; Error{invalid} names the file and what is wrong in it. Everything in it is checked: no index leaves its table.
  static ShapePredictor read(const std::filesystem::path& file);

  std::size_t point_count() const { return mean_.size(); }
  // `picture`: [H,W,3] BGR. The points of a face that fills `frame`, in the picture's pixels.
  Shape2d points(ConstImageView picture, const ShapeFrame& frame) const;
  // The frame in which the mean shape lies as these points do, in place and size.
  ShapeFrame frame_of(const Shape2d& points) const;

 private:
  struct Split {
    std::uint32_t one = 0, other = 0;  // of the level's pixels
    float threshold = 0;               // of their difference: the left branch above it
  };
  struct Tree {
    std::uint32_t first_split = 0, first_leaf = 0;  // of `splits`; of `leaves`, in points
  };
  // A pixel is at `offset` from a point of the shape, both in the frame's units and turned and scaled with the shape.
  struct Probe {
    std::uint32_t point = 0;
    ShapePoint offset{};
  };
  struct Level {
    std::vector<Probe> probes{};
    std::vector<Tree> trees{};
    std::uint32_t depth = 0;
    std::vector<Split> splits{};
    std::vector<ShapePoint> leaves{};
  };
  friend class ShapePredictorReader;

  Shape2d mean_{};
  std::vector<Level> levels_{};
};

}  // namespace navtalk
