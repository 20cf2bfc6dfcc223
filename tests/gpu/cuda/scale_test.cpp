// The kernel that scales frames against the way through the twins: NV12 to BGR, resize(), and back.
#include "gpu/image/scale.h"

#include <catch2/catch.hpp>
#include <vector>

#include "gpu/image/color.h"
#include "tests/gpu/cuda/device_memory.h"
#include "tests/gpu/cuda/furthest.h"
#include "tests/gpu/image/noise.h"
#include "tests/gpu/image/pasted_by_twins.h"

using namespace navtalk;
using tests::furthest;

namespace {

// Rough in places; its chroma stays inside what BGR can show, as video's does.
std::vector<std::uint8_t> rough_frame(std::uint64_t seed, int width, int height) {
  Image picture = noise(seed, width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width / 2; ++x)
      for (int c = 0; c < 3; ++c)
        picture.view().row(y)[3 * x + c] = static_cast<std::uint8_t>(3 * x + 5 * y + 40 * c);
  std::vector<std::uint8_t> nv12(yuv420_bytes(width, height));
  bgr_to_nv12(picture.view(), nv12.data());
  return nv12;
}

struct Sizes {
  int width, height, to_width, to_height;
};

}  // namespace

TEST_CASE("frames are scaled within one level of the way through BGR") {
  NAVTALK_NEEDS_DEVICE();
  const Sizes sizes = GENERATE(Sizes{150, 84, 70, 40}, Sizes{64, 48, 130, 98},
                               Sizes{66, 50, 66, 26}, Sizes{2, 2, 18, 10}, Sizes{200, 120, 2, 2});
  const auto count =
      GENERATE(std::size_t{1}, std::size_t{3}, std::size_t{35});  // more than a launch
  std::vector<std::vector<std::uint8_t>> frames;
  std::vector<tests::DeviceMemory> from, to;
  std::vector<cuda::FrameScale> batch;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t offset = i % 2;  // odd addresses, too
    frames.push_back(rough_frame(7 + i % 5, sizes.width, sizes.height));
    from.emplace_back(frames.back(), offset);
    to.emplace_back(yuv420_bytes(sizes.to_width, sizes.to_height), offset);
    batch.push_back({.from = from.back().data(), .to = to.back().data()});
  }
  cuda::scale_frames(batch, sizes.width, sizes.height, sizes.to_width, sizes.to_height, nullptr);
  for (std::size_t i = 0; i < count; ++i) {
    INFO(sizes.width << "x" << sizes.height << " to " << sizes.to_width << "x" << sizes.to_height
                     << ", frame " << i);
    CHECK(furthest(to[i].get(), tests::scaled_by_twins(frames[i], sizes.width, sizes.height,
                                                       sizes.to_width, sizes.to_height)) <= 1);
    CHECK(from[i].get() == frames[i]);
  }
}
