// The fused kernel against the way through the twins: NV12 to BGR, compose(), and back.
#include "gpu/image/paste.h"

#include <cuda_fp16.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "gpu/image/color.h"
#include "gpu/kernels/maps.h"
#include "tests/gpu/cuda/device_memory.h"
#include "tests/gpu/cuda/furthest.h"
#include "tests/gpu/image/deviation_of_one.h"
#include "tests/gpu/image/noise.h"
#include "tests/gpu/image/pasted_by_twins.h"

using namespace navtalk;
using tests::furthest;

namespace {

constexpr int k_face = 256,
              k_channels = 4;  // the decoder's maps may have a channel more than they need

// Smooth in places and rough in others, as faces are; beyond [-1,1], and one NaN.
std::vector<float> decoder_output(int seed) {
  std::vector<float> values(static_cast<std::size_t>(k_face) * k_face * k_channels);
  const Image rough = noise(static_cast<std::uint64_t>(seed), k_face, k_face, k_channels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t x = i / k_channels % k_face;
    values[i] = x < 128 ? std::sin(static_cast<float>(i) * 0.001F) * 1.1F
                        : static_cast<float>(rough.pixels[i]) / 127.5F - 1.0F;
  }
  values[k_channels * (100 * k_face + 60)] = std::numeric_limits<float>::quiet_NaN();
  return values;
}

struct Case {
  Box box, crop_box;
  std::optional<Box> mask_region;
};

// What is done to a face beside pasting it.
struct Finish {
  FaceFinish finish{};
  float lips = 1;
};

// What the twins make of it.
std::vector<std::uint8_t> expected(const std::vector<std::uint8_t>& frame, int width, int height,
                                   const std::vector<float>& decoded, const Case& row,
                                   const Image& mask, const Finish& finish) {
  Image face(k_face, k_face);
  kernels::to_bgr_bytes(decoded.data(), k_channels, kernels::Format::fp32, k_face * k_face,
                        face.pixels.data());
  const Box region =
      row.mask_region.value_or(Box{0, 0, row.crop_box.width(), row.crop_box.height()});
  return tests::pasted_by_twins(frame, width, height, face.view(), mask.view(),
                                {.placement = {row.box, row.crop_box},
                                 .mask_region = region,
                                 .finish = finish.finish,
                                 .lips = finish.lips});
}

// A frame whose chroma stays inside what BGR can show, as video's does.
std::vector<std::uint8_t> frame_of(std::uint64_t seed, int width, int height) {
  const Image picture = noise(seed, width, height);
  std::vector<std::uint8_t> nv12(yuv420_bytes(width, height));
  bgr_to_nv12(picture.view(), nv12.data());
  return nv12;
}

}  // namespace

TEST_CASE("faces are pasted within one level of the way through BGR, and nothing else changes") {
  NAVTALK_NEEDS_DEVICE();
  // The last at odd addresses.
  const auto [wide, behind] = GENERATE(table<int, std::size_t>({{150, 0U}, {128, 0U}, {128, 1U}}));
  const int width = wide, height = 84;
  const std::size_t offset = behind;
  // Of the faces in turn, so that one launch has several.
  const auto finishes = GENERATE(
      std::vector<Finish>{{}}, std::vector<Finish>{{.finish = {.unsharp = Unsharp{}}}, {}},
      std::vector<Finish>{{.finish = {.match_colour = true}},
                          {.finish = {.unsharp = Unsharp{}}, .lips = 0.7F},
                          {.finish = {.unsharp = Unsharp{}, .match_colour = true}, .lips = 0.3F}});
  const std::vector<Case> cases = {
      {{31, 11, 92, 70}, {20, 4, 110, 80}, std::nullopt},       // odd edges
      {{-10, 40, 50, 100}, {-20, 30, 60, 110}, std::nullopt},   // beyond the frame's edge
      {{16, 8, 80, 72}, {10, 2, 90, 82}, Box{12, 30, 61, 71}},  // a mask for a part
      {{200, 10, 240, 50}, {190, 0, 250, 60}, std::nullopt},    // nothing to be seen
  };
  std::vector<std::vector<float>> decoded;
  std::vector<std::vector<std::uint8_t>> frames;
  std::vector<Image> masks;
  std::vector<tests::DeviceMemory> outs, memory;
  const auto finish_of = [&](std::size_t i) { return finishes[i % finishes.size()]; };
  std::vector<cuda::FacePaste> faces;
  const auto on_device = [&memory](const std::vector<std::uint8_t>& bytes, std::size_t at = 0) {
    return memory.emplace_back(bytes, at).data();
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& row = cases[i];
    const Box region =
        row.mask_region.value_or(Box{0, 0, row.crop_box.width(), row.crop_box.height()});
    decoded.push_back(decoder_output(static_cast<int>(i) + 1));
    frames.push_back(frame_of(40 + i, width, height));
    outs.emplace_back(frames.back().size(), offset);
    Image& mask = masks.emplace_back(noise(90 + i, region.width(), region.height(), 1));
    for (std::size_t m = 0; m < mask.pixels.size(); m += 3) mask.pixels[m] = m % 2 == 0 ? 255 : 0;
    faces.push_back({on_device(frames[i], offset),
                     outs[i].data(),
                     on_device(tests::bytes_of(decoded[i])),
                     on_device(mask.pixels, offset),
                     mask.width,
                     region,
                     {row.box, row.crop_box},
                     finish_of(i).finish.unsharp,
                     finish_of(i).finish.match_colour
                         ? on_device(std::vector<std::uint8_t>(cuda::k_match_bytes, 0xA5))
                         : nullptr,
                     finish_of(i).lips});
  }
  cuda::paste_faces(faces, width, height, cuda::Format::fp32, k_channels, nullptr);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i << ", width " << width << ", offset " << offset << ", sharpened "
                 << finish_of(i).finish.unsharp.has_value() << ", matched "
                 << finish_of(i).finish.match_colour << ", lips " << finish_of(i).lips);
    CHECK(furthest(outs[i].get(), expected(frames[i], width, height, decoded[i], cases[i], masks[i],
                                           finish_of(i))) <= 1);
  }
  CHECK(outs.back().get() == frames.back());
}

TEST_CASE("a face at the threshold of its deviation gets the same colours from both twins") {
  NAVTALK_NEEDS_DEVICE();
  const int seam = static_cast<int>(tests::k_deviation_of_one.size());
  const bool below = GENERATE(false, true);
  const std::vector<std::uint8_t> frame = frame_of(77, k_face, k_face);
  const Case row{{0, 0, k_face, k_face}, {0, 0, k_face, k_face}, std::nullopt};
  Image mask(k_face, k_face, 1);
  for (int y = 0; y < k_face; ++y) std::fill_n(mask.view().row(y), k_face, y < seam ? 128 : 255);
  const tests::DeviceMemory device_frame(frame), device_mask(mask.pixels);
  for (int base = 36; base <= 156; base += 5) {
    INFO("about level " << base << (below ? ", below" : ", at it"));
    std::vector<float> decoded(static_cast<std::size_t>(k_face) * k_face * k_channels);
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      const std::size_t y = i / k_channels / k_face;
      const int level =
          y >= tests::k_deviation_of_one.size()
              ? 250
              : base + (below && i < k_channels ? 1 : tests::k_deviation_of_one.at(y));
      decoded[i] = static_cast<float>(level) / 127.5F - 1.0F;
    }
    const tests::DeviceMemory face(tests::bytes_of(decoded)), out(frame.size()),
        match(cuda::k_match_bytes);
    const cuda::FacePaste paste{.frame = device_frame.data(),
                                .out = out.data(),
                                .face = face.data(),
                                .mask = device_mask.data(),
                                .mask_stride = k_face,
                                .mask_region = {0, 0, k_face, k_face},
                                .placement = {row.box, row.crop_box},
                                .match = match.data()};
    cuda::paste_faces({&paste, 1}, k_face, k_face, cuda::Format::fp32, k_channels, nullptr);
    CHECK(furthest(out.get(), expected(frame, k_face, k_face, decoded, row, mask,
                                       {.finish = {.match_colour = true}})) <= 1);
  }
}

TEST_CASE("faces in fp16 are pasted in place, more than one launch holds") {
  NAVTALK_NEEDS_DEVICE();
  const int width = 96, height = 64;
  const std::vector<float> decoded = decoder_output(5);
  std::vector<__half> in_fp16;
  std::vector<float> rounded;
  for (const float value : decoded) {
    in_fp16.push_back(__float2half(value));
    rounded.push_back(__half2float(in_fp16.back()));
  }
  const Case row{{20, 10, 70, 60}, {14, 4, 76, 64}, std::nullopt};
  const Image mask = noise(3, 62, 60, 1);
  const std::vector<std::uint8_t> frame = frame_of(8, width, height);
  const tests::DeviceMemory face(tests::bytes_of(in_fp16)), device_mask(mask.pixels);
  std::vector<tests::DeviceMemory> frames;
  std::vector<cuda::FacePaste> faces;
  for (int i = 0; i < 11; ++i) {
    std::uint8_t* both = frames.emplace_back(frame).data();
    faces.push_back({both,
                     both,
                     face.data(),
                     device_mask.data(),
                     mask.width,
                     {0, 0, 62, 60},
                     {row.box, row.crop_box}});
  }
  cuda::paste_faces(faces, width, height, cuda::Format::fp16, k_channels, nullptr);
  const std::vector<std::uint8_t> wanted = expected(frame, width, height, rounded, row, mask, {});
  for (const tests::DeviceMemory& each : frames) CHECK(furthest(each.get(), wanted) <= 1);
}

TEST_CASE("no faces are no launch") {
  NAVTALK_NEEDS_DEVICE();
  cuda::paste_faces({}, 96, 64, cuda::Format::fp16, k_channels, nullptr);
  SUCCEED("nothing was read or written");
}
