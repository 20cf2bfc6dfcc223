// The GroupNorm kernel, on a device or run by the emulation, against its twin on the CPU. Buffers have no slack, so that
// AddressSanitizer sees an access beyond them.
#include "gpu/kernels/group_norm.h"

#include <cuda_fp16.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "gpu/kernels/device/group_norm.h"
#include "tests/gpu/cuda/device_memory.h"
#include "tests/gpu/cuda/device_values.h"

using namespace navtalk;
using cuda::Format;
using tests::decoded;
using tests::DeviceMemory;
using tests::encoded;
using tests::furthest_rounding;
using tests::scattered;

namespace {

struct NormCase {
  int images, pixels, channels, skip, groups;
  float offset = 0;
  bool silu = true;
  int misaligned = 0;  // bytes
  bool biased = false;
};

// A norm's tensors, as the values that the format can hold.
struct Tensors {
  Tensors(const NormCase& row, Format format)
      : x(held(scattered(count(row, row.channels), 1, row.offset), format)),
        skip(held(scattered(count(row, row.skip), 2), format)),
        gamma(scattered(static_cast<std::size_t>(row.channels + row.skip), 3)),
        beta(scattered(gamma.size(), 4)),
        bias(scattered(static_cast<std::size_t>(row.channels), 6)) {}
  static std::size_t count(const NormCase& row, int channels) {
    return static_cast<std::size_t>(row.images) * static_cast<std::size_t>(row.pixels) *
           static_cast<std::size_t>(channels);
  }
  static std::vector<float> held(const std::vector<float>& values, Format format) {
    return decoded(encoded(values, format), format);
  }
  std::vector<float> x, skip, gamma, beta, bias;
};

std::vector<float> of_twin(const NormCase& row, const Tensors& tensors) {
  std::vector<float> y(Tensors::count(row, row.channels + row.skip)), x = tensors.x;
  for (std::size_t i = 0; row.biased && i < x.size(); ++i)
    x[i] += tensors.bias[i % tensors.bias.size()];
  kernels::group_norm({.x = x.data(),
                       .skip = row.skip > 0 ? tensors.skip.data() : nullptr,
                       .y = y.data(),
                       .images = row.images,
                       .pixels = row.pixels,
                       .channels = row.channels,
                       .skip_channels = row.skip,
                       .gamma = tensors.gamma.data(),
                       .beta = tensors.beta.data(),
                       .groups = row.groups,
                       .eps = 1e-6F,
                       .silu = row.silu});
  return y;
}

// What the kernel makes. It runs on other values first, whose statistics lie in the workspace then.
std::vector<std::uint8_t> of_kernel(const NormCase& row, const Tensors& tensors, Format format,
                                    bool in_place = false) {
  const auto offset = static_cast<std::size_t>(row.misaligned);
  DeviceMemory x(encoded(tensors.x, format), offset);
  const DeviceMemory skip(encoded(tensors.skip, format), offset);
  const DeviceMemory apart(Tensors::count(row, row.channels + row.skip) * cuda::item_size(format),
                           offset);
  const DeviceMemory gamma(tests::bytes_of(tensors.gamma)), beta(tests::bytes_of(tensors.beta)),
      bias(tests::bytes_of(tensors.bias));
  const DeviceMemory& y = in_place ? x : apart;
  const cuda::GroupNorm norm{
      .x = x.data(),
      .skip = row.skip > 0 ? skip.data() : nullptr,
      .y = y.data(),
      .format = format,
      .images = row.images,
      .pixels = row.pixels,
      .channels = row.channels,
      .skip_channels = row.skip,
      .gamma = reinterpret_cast<const float*>(gamma.data()),
      .beta = reinterpret_cast<const float*>(beta.data()),
      .bias = row.biased ? reinterpret_cast<const float*>(bias.data()) : nullptr,
      .groups = row.groups,
      .eps = 1e-6F,
      .silu = row.silu};
  const DeviceMemory workspace(
      std::vector<std::uint8_t>(cuda::group_norm_workspace_bytes(norm), 0xFF));
  x.put(encoded(scattered(tensors.x.size(), 5, 7.0F), format));
  cuda::group_norm(norm, workspace.data(), nullptr);
  x.put(encoded(tensors.x, format));
  cuda::group_norm(norm, workspace.data(), nullptr);
  return y.get();
}

void check_against_twin(const NormCase& row, Format format) {
  INFO(row.images << " x " << row.pixels << " x (" << row.channels << " + " << row.skip << "), "
                  << row.groups << " groups, " << row.misaligned << " bytes off, "
                  << (format == Format::fp32 ? "fp32" : "fp16"));
  const Tensors tensors(row, format);
  const std::vector<float> y = decoded(of_kernel(row, tensors, format), format);
  // Halves: one rounding at the end. Floats: the sums' own.
  const double rounding = format == Format::fp32 ? 4e-6 : 1.0 / 2048 + 1e-5;
  CHECK(furthest_rounding(y, of_twin(row, tensors), rounding) <= 1);
}

}  // namespace

TEST_CASE("the GroupNorm kernel agrees with its twin at awkward sizes, concatenation included") {
  NAVTALK_NEEDS_DEVICE();
  const Format format = GENERATE(Format::fp32, Format::fp16);
  const NormCase row = GENERATE(
      NormCase{1, 1, 8, 0, 1}, NormCase{2, 16, 32, 0, 8}, NormCase{1, 49, 24, 0, 8, 3.0F},
      NormCase{3, 81, 40, 24, 8}, NormCase{1, 9, 20, 12, 4}, NormCase{1, 3, 7, 6, 13},
      NormCase{2, 130, 320, 0, 32}, NormCase{1, 16, 1280, 640, 32},
      NormCase{1, 5, 2560, 0, 32, 0, false}, NormCase{1, 5000, 4, 0, 2, -1.0F},
      NormCase{1, 2, 3072, 0, 32}, NormCase{1, 400, 1280, 0, 32, 0.5F},  // several pixels a thread
      NormCase{1, 700, 1280, 0, 32});                                    // more than a thread keeps
  check_against_twin(row, format);
}

TEST_CASE("the GroupNorm kernels for large maps agree with their twin") {
  NAVTALK_NEEDS_DEVICE();
  const Format format = GENERATE(Format::fp32, Format::fp16);
  // Groups that a block's cache does not hold; or more of a pixel than a block has threads.
  const NormCase row =
      GENERATE(NormCase{1, 10300, 8, 0, 1}, NormCase{2, 5300, 24, 8, 2, 3.0F},
               NormCase{1, 20600, 26, 0, 2, 0, true, 4}, NormCase{1, 9, 1031, 0, 1},
               NormCase{1, 10300, 8, 0, 1, 0, false, 0, true}, NormCase{1, 83000, 65, 0, 65});
  check_against_twin(row, format);
}

TEST_CASE("the GroupNorm kernel adds a bias to what it reads") {
  NAVTALK_NEEDS_DEVICE();
  const Format format = GENERATE(Format::fp32, Format::fp16);
  const NormCase row = GENERATE(NormCase{2, 49, 24, 0, 8, 0, true, 0, true},
                                NormCase{1, 81, 40, 24, 8, 2.0F, true, 0, true});
  check_against_twin(row, format);
}

TEST_CASE("the GroupNorm kernel takes maps at any address that their values may have") {
  NAVTALK_NEEDS_DEVICE();
  check_against_twin({1, 49, 32, 16, 8, 0, true, 4}, Format::fp32);
  check_against_twin({1, 49, 32, 16, 8, 0, true, 2}, Format::fp16);
  check_against_twin({1, 49, 32, 0, 8, 0, true, 8}, Format::fp16);
}

TEST_CASE("the GroupNorm kernel may write over what it reads") {
  NAVTALK_NEEDS_DEVICE();
  for (const NormCase& row :
       {NormCase{2, 300, 32, 0, 8}, NormCase{1, 77, 6, 0, 3}, NormCase{1, 20500, 8, 0, 1}})
    for (const Format format : {Format::fp32, Format::fp16}) {
      const Tensors tensors(row, format);
      CHECK(of_kernel(row, tensors, format, true) == of_kernel(row, tensors, format));
    }
}

TEST_CASE("the GroupNorm kernel gives the same bytes for an image alone and in a batch") {
  NAVTALK_NEEDS_DEVICE();
  const NormCase row = GENERATE(NormCase{3, 700, 32, 0, 8}, NormCase{3, 20500, 8, 0, 1});
  const Tensors tensors(row, Format::fp16);
  const std::vector<std::uint8_t> together = of_kernel(row, tensors, Format::fp16);
  const std::size_t one = together.size() / 3;
  for (std::size_t n = 0; n < 3; ++n) {
    Tensors single = tensors;
    single.x.assign(tensors.x.begin() + static_cast<std::ptrdiff_t>(n * one / 2),
                    tensors.x.begin() + static_cast<std::ptrdiff_t>((n + 1) * one / 2));
    NormCase alone = row;
    alone.images = 1;
    const std::vector<std::uint8_t> y = of_kernel(alone, single, Format::fp16);
    CHECK(std::equal(y.begin(), y.end(), together.begin() + static_cast<std::ptrdiff_t>(n * one)));
  }
}

TEST_CASE("the GroupNorm kernel's statistics stay exact where the mean is large") {
  NAVTALK_NEEDS_DEVICE();
  // Sums of squares would lose the variance: 1e8 has no bits left for it. Every thread takes several pixels.
  const NormCase row{1, 1000, 1024, 0, 32, 10000.0F, false};
  const Tensors tensors(row, Format::fp32);
  const std::vector<float> y = decoded(of_kernel(row, tensors, Format::fp32), Format::fp32);
  // Scale and mean are rounded, which counts 10000 times; gamma is up to 2.5.
  CHECK(furthest_rounding(y, of_twin(row, tensors), 5e-3) <= 1);
}

TEST_CASE("the GroupNorm kernel takes empty batches and maps") {
  NAVTALK_NEEDS_DEVICE();
  for (const NormCase& row : {NormCase{0, 16, 32, 0, 8}, NormCase{2, 0, 32, 0, 8}})
    CHECK(of_kernel(row, Tensors(row, Format::fp16), Format::fp16).empty());
}
