// What `navtalk bench image` times on a device: each launch stays inside its memory, writes its result, and is one of the CPU's rows.
#include "gpu/image/device/image_launches.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "tests/gpu/cuda/device_memory.h"

using namespace navtalk;

namespace {

// A face in the middle of a small picture, its mask over the lower half of a larger square that leaves the frame.
cuda::BenchPictures small_pictures(int batch) {
  return {.batch = batch,
          .width = 70,
          .height = 46,
          .face = 24,
          .placement = {.box = {20, 10, 44, 34}, .crop_box = {8, -2, 56, 46}},
          .mask_region = {0, 24, 48, 48}};
}

}  // namespace

TEST_CASE("every launch of the image bench writes inside its own memory") {
  NAVTALK_NEEDS_DEVICE();
  for (const int batch : {1, 3}) {
    const cuda::ImageLaunches launches(small_pictures(batch));
    std::vector<std::uint8_t> content(launches.memory_bytes());
    launches.fill(content);
    std::set<std::pair<std::string, std::string>> seen;
    for (const cuda::ImageLaunch& launch : launches.all()) {
      INFO(launch.operation << ", " << launch.area << ", batch " << batch);
      CHECK(seen.emplace(launch.operation, launch.area).second);
      CHECK(launch.bytes > 0);
      const tests::DeviceMemory memory(content);
      launch.enqueue(memory.data(), nullptr);
      CHECK(memory.get() != content);
    }
    CHECK(seen.size() == 20);
  }
}
