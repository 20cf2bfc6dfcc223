// How a batch is divided into passes of few sizes.
#include "gpu/device/batch_parts.h"

#include <array>
#include <catch2/catch.hpp>

using navtalk::batch_parts;
using navtalk::BatchPart;

namespace {

constexpr std::array<std::int64_t, 4> k_sizes{1, 2, 4, 8};

// The sizes of the passes.
std::vector<std::int64_t> passes(std::int64_t images, double pass_cost) {
  std::vector<std::int64_t> sizes;
  std::int64_t next = 0;
  for (const BatchPart& part : batch_parts(images, k_sizes, pass_cost)) {
    CHECK(part.begin == next);
    CHECK(part.images > 0);
    CHECK(part.images <= part.size);
    next += part.images;
    sizes.push_back(part.size);
  }
  CHECK(next == images);
  return sizes;
}

}  // namespace

TEST_CASE("a batch that a pass has the size of is one pass") {
  for (const std::int64_t size : k_sizes)
    CHECK(passes(size, 1.7) == std::vector<std::int64_t>{size});
  CHECK(passes(0, 1.7).empty());
}

TEST_CASE("a pass is filled up where another one would cost more") {
  CHECK(passes(3, 1.7) == std::vector<std::int64_t>{4});
  CHECK(passes(5, 1.7) == std::vector<std::int64_t>{4, 1});
  CHECK(passes(6, 1.7) == std::vector<std::int64_t>{4, 2});
  CHECK(passes(7, 1.7) == std::vector<std::int64_t>{8});
  CHECK(passes(5, 3.5) == std::vector<std::int64_t>{8});
}

TEST_CASE("where passes cost nothing no image is computed in vain") {
  CHECK(passes(3, 0.05) == std::vector<std::int64_t>{2, 1});
  CHECK(passes(7, 0.05) == std::vector<std::int64_t>{4, 2, 1});
}

TEST_CASE("more than the largest pass takes are passes of it, and the rest") {
  CHECK(passes(16, 1.7) == std::vector<std::int64_t>{8, 8});
  CHECK(passes(19, 1.7) == std::vector<std::int64_t>{8, 8, 4});
  CHECK(batch_parts(9, k_sizes, 1.7).back() == BatchPart{.begin = 8, .images = 1, .size = 1});
}
