// From the scores of S3FD to faces in the picture, as its original does. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "core/tensor/image.h"
#include "core/tensor/ndarray.h"

namespace navtalk {

// What the net says of a picture: for each of its six scales, coarser by 2 from cells of 4 pixels on, row by row. The scales stand
// one behind the other in `scores` and `offsets`.
struct FaceScores {
  struct Scale {
    std::int64_t rows = 0, columns = 0;
  };
  std::vector<Scale> scales;
  NdArray<float> scores;  // [N,2]: background, face; before softmax
  NdArray<float>
      offsets;  // [N,4]: of the centre and, as logarithms, of the size, against the cell's own box
};

// In pixels of the picture; may reach outside.
struct FoundFace {
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  float score = 0;  // 0 to 1
};

// Faces with a score above 0.5, the best first. Of two that overlap by more than 0.3 (area of both over area of either) the
// better one stays.
std::vector<FoundFace> found_faces(const FaceScores& scores);

// What MuseTalk makes of them: the first one, truncated to whole pixels, without what lies left of or above the picture. It may
// reach over the other edges.
std::optional<Box> best_face(const std::vector<FoundFace>& faces);
// Each of them as best_face() gives the first.
std::vector<Box> whole_boxes(const std::vector<FoundFace>& faces);

}  // namespace navtalk
