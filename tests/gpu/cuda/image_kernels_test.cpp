// The image kernels, on a device or run by the emulation, against their twins on the CPU: at sizes that no block divides, strided,
// planar, in batches, and empty. Buffers have no slack, so that AddressSanitizer sees an access beyond them.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "gpu/image/blend.h"
#include "gpu/image/color.h"
#include "gpu/image/device/image.h"
#include "gpu/image/gaussian_blur.h"
#include "gpu/image/resize.h"
#include "tests/gpu/cuda/device_memory.h"
#include "tests/gpu/cuda/furthest.h"
#include "tests/gpu/image/noise.h"

using namespace navtalk;
using tests::furthest;

namespace {

struct Size {
  int width, height;
};

// Pictures laid out anew on the device: planar or interleaved, rows apart by `gap` bytes, starting
// at an odd address, and not one byte behind the last value.
struct Laid {
  Laid(const std::vector<Image>& images, bool planar, int gap)
      : pixels(layout(images, planar, gap)), memory(laid_out(images), 1) {
    pixels.data = memory.data();
  }
  static cuda::Pixels layout(const std::vector<Image>& images, bool planar, int gap) {
    const Image& first = images.front();
    cuda::Pixels made =
        cuda::interleaved(static_cast<std::uint8_t*>(nullptr), static_cast<int>(images.size()),
                          first.height, first.width, first.channels);
    made.pixel_stride = planar ? 1 : first.channels;
    made.row_stride = first.width * made.pixel_stride + gap;
    made.channel_stride = planar ? made.row_stride * first.height : 1;
    made.image_stride = made.row_stride * first.height * (planar ? first.channels : 1);
    return made;
  }
  std::size_t at(int n, int y, int x, int c) const {
    return static_cast<std::size_t>(n * pixels.image_stride + y * pixels.row_stride +
                                    x * pixels.pixel_stride + c * pixels.channel_stride);
  }
  std::vector<std::uint8_t> laid_out(const std::vector<Image>& images) const {
    std::vector<std::uint8_t> bytes(
        at(pixels.count - 1, pixels.height - 1, pixels.width - 1, pixels.channels - 1) + 1, k_gap);
    for (int n = 0; n < pixels.count; ++n)
      for_each_value(
          images[static_cast<std::size_t>(n)],
          [&](int y, int x, int c, std::uint8_t value) { bytes[at(n, y, x, c)] = value; });
    return bytes;
  }
  template <class Use>
  static void for_each_value(const Image& image, Use use) {
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x)
        for (int c = 0; c < image.channels; ++c) use(y, x, c, *(image.view().at(x, y) + c));
  }
  Image get(int n) const {
    const std::vector<std::uint8_t> bytes = memory.get();
    Image image(pixels.width, pixels.height, pixels.channels);
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x)
        for (int c = 0; c < image.channels; ++c)
          *(image.view().at(x, y) + c) = bytes[at(n, y, x, c)];
    return image;
  }
  static constexpr std::uint8_t k_gap = 99;
  cuda::Pixels pixels;
  tests::DeviceMemory memory;
};

std::vector<Image> pictures(int count, Size size, int channels = 3,
                            std::string_view kind = "noise") {
  std::vector<Image> images;
  for (int n = 0; n < count; ++n)
    images.push_back(
        noise(static_cast<std::uint64_t>(7 + n), size.width, size.height, channels, kind));
  return images;
}
// [H,W,C] is a batch of one that is interleaved.
struct Layout {
  int count;
  bool planar;
};
constexpr Layout k_layouts[] = {{1, false}, {2, false}, {2, true}};

std::vector<Image> blank(int count, Size size, int channels = 3) {
  return std::vector<Image>(static_cast<std::size_t>(count),
                            Image(size.width, size.height, channels));
}

}  // namespace

TEST_CASE(
    "the resize kernel gives its twin's bytes, larger, smaller and at the same size, in every "
    "layout") {
  NAVTALK_NEEDS_DEVICE();
  struct Row {
    Size from, to;
    int count, channels;
  };
  for (const Row& row :
       {Row{{37, 29}, {61, 83}, 2, 3}, Row{{64, 48}, {33, 17}, 1, 3}, Row{{5, 1}, {9, 3}, 3, 1},
        Row{{1, 7}, {4, 2}, 1, 4}, Row{{32, 8}, {32, 8}, 2, 3}}) {
    for (const bool planar : {false, true}) {
      INFO(row.from.width << "x" << row.from.height << " to " << row.to.width << "x"
                          << row.to.height << ", planar " << planar);
      const std::vector<Image> images = pictures(row.count, row.from, row.channels);
      const Laid source(images, planar, 3);
      const Laid destination(blank(row.count, row.to, row.channels), planar, 5);
      cuda::resize(source.pixels, destination.pixels, nullptr);
      for (int n = 0; n < row.count; ++n) {
        Image expected(row.to.width, row.to.height, row.channels);
        resize(images[static_cast<std::size_t>(n)].view(), expected.view(), Interpolation::linear);
        CHECK(destination.get(n) == expected);
      }
    }
  }
}

TEST_CASE(
    "the blur kernel gives its twin's bytes, also where the picture is narrower than its reach") {
  NAVTALK_NEEDS_DEVICE();
  struct Row {
    Size size;
    int taps;
    double sigma;
  };
  for (const Row& row : {Row{{45, 19}, 5, 1.0}, Row{{33, 9}, 21, 0.0}, Row{{3, 2}, 13, 2.5},
                         Row{{1, 1}, 7, 0.0}, Row{{40, 30}, 63, 9.0}, Row{{8, 8}, 1, 0.0}}) {
    for (const auto& [count, planar] : k_layouts) {
      INFO(row.size.width << "x" << row.size.height << ", " << row.taps << " taps, planar "
                          << planar);
      const std::vector<Image> images = pictures(count, row.size);
      const Laid source(images, planar, 2), destination(blank(count, row.size), planar, 0);
      cuda::gaussian_blur(source.pixels, destination.pixels, row.taps, row.sigma, nullptr);
      for (int n = 0; n < count; ++n) {
        Image expected(row.size.width, row.size.height);
        gaussian_blur(images[static_cast<std::size_t>(n)].view(), expected.view(), row.taps,
                      row.sigma);
        CHECK(destination.get(n) == expected);
      }
    }
  }
}

TEST_CASE("the unsharp kernel gives its twin's bytes for every amount, sigma and threshold") {
  NAVTALK_NEEDS_DEVICE();
  for (const Size size : {Size{45, 19}, Size{32, 8}, Size{2, 3}})
    for (const Unsharp& unsharp : {Unsharp{}, Unsharp{0.5F, 2.0F, 0}, Unsharp{100.0F, 0.6F, 40}})
      for (const auto& [count, planar] : k_layouts) {
        INFO(size.width << "x" << size.height << ", amount " << unsharp.amount << ", planar "
                        << planar);
        const std::vector<Image> images =
            pictures(count, size, 3, unsharp.threshold == 0 ? "extreme" : "noise");
        // Of a batch of one, from one layout into the other.
        const Laid source(images, planar, 1),
            destination(blank(count, size), count == 1 || planar, 4);
        cuda::unsharp_mask(source.pixels, destination.pixels, unsharp, nullptr);
        for (int n = 0; n < count; ++n) {
          Image expected(size.width, size.height);
          unsharp_mask(images[static_cast<std::size_t>(n)].view(), expected.view(), unsharp);
          CHECK(destination.get(n) == expected);
        }
      }
}

TEST_CASE(
    "the blend kernel gives its twin's bytes in place, and leaves what lies between the rows "
    "alone") {
  NAVTALK_NEEDS_DEVICE();
  const bool overlay_planar = GENERATE(false, true);
  for (const auto& [count, planar] : k_layouts) {
    const Size size{35, 11};
    std::vector<Image> bases = pictures(count, size);
    const std::vector<Image> overlays = pictures(count, size, 3, "extreme"),
                             masks = pictures(count, size, 1);
    const Laid base(bases, planar, 3), overlay(overlays, overlay_planar, 0), mask(masks, false, 7);
    const std::size_t gap = base.at(0, 0, size.width - 1, planar ? 0 : 2) + 1;
    cuda::blend(base.pixels, overlay.pixels, mask.pixels, nullptr);
    CHECK(base.memory.get()[gap] == Laid::k_gap);
    for (std::size_t n = 0; n < bases.size(); ++n) {
      blend(bases[n].view(), overlays[n].view(), masks[n].view());
      CHECK(base.get(static_cast<int>(n)) == bases[n]);
    }
  }
}

TEST_CASE("the colour kernels are within one level of their twins") {
  NAVTALK_NEEDS_DEVICE();
  const auto [count, planar] = GENERATE(from_range(std::begin(k_layouts), std::end(k_layouts)));
  const Size size{70, 18};
  const std::vector<Image> images = pictures(count, size);
  const std::size_t bytes = yuv420_bytes(size.width, size.height),
                    all_bytes = images.size() * bytes;
  const Laid bgr(images, planar, 1);
  const tests::DeviceMemory device_nv12(all_bytes), device_i420(all_bytes);
  std::vector<std::uint8_t> expected(bytes);
  cuda::bgr_to_nv12(bgr.pixels, device_nv12.data(), nullptr);
  cuda::bgr_to_i420(bgr.pixels, device_i420.data(), nullptr);
  const Laid back(blank(count, size), planar, 3), back420(blank(count, size), planar, 0);
  cuda::nv12_to_bgr(device_nv12.data(), back.pixels, nullptr);
  cuda::i420_to_bgr(device_i420.data(), back420.pixels, nullptr);
  const std::vector<std::uint8_t> nv12 = device_nv12.get(), i420 = device_i420.get();
  for (std::size_t n = 0; n < images.size(); ++n) {
    const auto part = [&](const std::vector<std::uint8_t>& all) {
      return std::vector<std::uint8_t>(all.begin() + static_cast<std::ptrdiff_t>(n * bytes),
                                       all.begin() + static_cast<std::ptrdiff_t>((n + 1) * bytes));
    };
    bgr_to_nv12(images[n].view(), expected.data());
    CHECK(furthest(part(nv12), expected) <= 1);
    bgr_to_i420(images[n].view(), expected.data());
    CHECK(furthest(part(i420), expected) <= 1);
    Image picture(size.width, size.height);
    nv12_to_bgr(part(nv12).data(), picture.view());
    CHECK(furthest(back.get(static_cast<int>(n)).pixels, picture.pixels) <= 1);
    i420_to_bgr(part(i420).data(), picture.view());
    CHECK(furthest(back420.get(static_cast<int>(n)).pixels, picture.pixels) <= 1);
  }
}

TEST_CASE("a batch of no pictures is no launch") {
  NAVTALK_NEEDS_DEVICE();
  cuda::Pixels none = cuda::interleaved(static_cast<std::uint8_t*>(nullptr), 0, 4, 6);
  cuda::Pixels mask = cuda::planar(static_cast<std::uint8_t*>(nullptr), 0, 4, 6, 1);
  cuda::resize(none, none, nullptr);
  cuda::gaussian_blur(none, none, 5, 1.0, nullptr);
  cuda::unsharp_mask(none, none, {}, nullptr);
  cuda::blend(none, none, mask, nullptr);
  cuda::bgr_to_nv12(none, nullptr, nullptr);
  cuda::bgr_to_i420(none, nullptr, nullptr);
  cuda::nv12_to_bgr(nullptr, none, nullptr);
  cuda::i420_to_bgr(nullptr, none, nullptr);
  SUCCEED("nothing was read or written");
}
