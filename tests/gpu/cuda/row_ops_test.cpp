// The kernels between a net's products, on a device or run by the emulation, against their twins on the CPU and plain sums. Buffers have
// no slack, so that AddressSanitizer sees an access beyond them.
#include "gpu/kernels/device/row_ops.h"

#include <cuda_fp16.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "gpu/kernels/maps.h"
#include "gpu/kernels/tokens.h"
#include "tests/gpu/cuda/device_memory.h"
#include "tests/gpu/cuda/device_values.h"

using namespace navtalk;
using cuda::Format;
using tests::decoded;
using tests::DeviceMemory;
using tests::encoded;
using tests::scattered;

namespace {

struct RowsCase {
  int rows, channels;
  std::size_t misaligned = 0;  // bytes
};

std::size_t count_of(const RowsCase& row) {
  return static_cast<std::size_t>(row.rows) * static_cast<std::size_t>(row.channels);
}
// As the format can hold them.
std::vector<float> values(std::size_t count, unsigned seed, Format format) {
  return decoded(encoded(scattered(count, seed), format), format);
}
const float* floats(const DeviceMemory& memory) {
  return reinterpret_cast<const float*>(memory.data());
}
void check_rounded(const std::vector<std::uint8_t>& got, const std::vector<float>& expected,
                   Format format, double more = 0) {
  const double rounding = (format == Format::fp32 ? 2e-7 : 1.0 / 2048) + more;
  CHECK(tests::furthest_rounding(decoded(got, format), expected, rounding) <= 1);
}
RowsCase any_case() {
  return GENERATE(RowsCase{1, 1}, RowsCase{3, 8}, RowsCase{5, 20}, RowsCase{7, 13},
                  RowsCase{130, 40}, RowsCase{3, 1280}, RowsCase{9, 16, 4}, RowsCase{0, 8});
}

}  // namespace

TEST_CASE("rows are added with and without a bias, in place and apart") {
  NAVTALK_NEEDS_DEVICE();
  const Format format = GENERATE(Format::fp32, Format::fp16);
  const RowsCase row = any_case();
  const bool biased = GENERATE(true, false), adds = GENERATE(true, false);
  INFO(row.rows << " x " << row.channels << ", " << row.misaligned << " bytes off");
  const std::vector<float> x = values(count_of(row), 1, format),
                           add = values(count_of(row), 2, format),
                           bias = scattered(static_cast<std::size_t>(row.channels), 3);
  std::vector<float> expected = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (biased) expected[i] += bias[i % bias.size()];
    if (adds) expected[i] += add[i];
  }
  const DeviceMemory from(encoded(x, format), row.misaligned),
      more(encoded(add, format), row.misaligned), biases(tests::bytes_of(bias)),
      apart(from.get().size(), row.misaligned);
  const auto run = [&](const DeviceMemory& to) {
    cuda::add_to_rows({.format = format, .rows = row.rows, .channels = row.channels}, from.data(),
                      adds ? more.data() : nullptr, biased ? floats(biases) : nullptr, to.data(),
                      nullptr);
    return to.get();
  };
  const std::vector<std::uint8_t> got = run(apart);
  check_rounded(got, expected, format);
  CHECK(run(from) == got);
}

TEST_CASE("the GEGLU kernel agrees with its twin") {
  NAVTALK_NEEDS_DEVICE();
  const Format format = GENERATE(Format::fp32, Format::fp16);
  const RowsCase row = any_case();
  INFO(row.rows << " x " << row.channels << ", " << row.misaligned << " bytes off");
  const std::vector<float> x = values(2 * count_of(row), 1, format);
  std::vector<float> expected(count_of(row));
  kernels::geglu(x.data(), expected.data(), kernels::Format::fp32, row.rows, row.channels);
  const DeviceMemory from(encoded(x, format), row.misaligned),
      to(encoded(expected, format).size(), row.misaligned);
  cuda::geglu({.format = format, .rows = row.rows, .channels = row.channels}, from.data(),
              to.data(), nullptr);
  check_rounded(to.get(), expected, format, 3e-6);
}

TEST_CASE("the LayerNorm kernel agrees with its twin, also of values with a bias") {
  NAVTALK_NEEDS_DEVICE();
  const Format format = GENERATE(Format::fp32, Format::fp16);
  const RowsCase row = any_case();
  const bool biased = GENERATE(true, false);
  INFO(row.rows << " x " << row.channels << ", " << row.misaligned << " bytes off");
  const std::vector<float> x = values(count_of(row), 1, format);
  const auto channels = static_cast<std::size_t>(row.channels);
  const std::vector<float> gamma = scattered(channels, 2), beta = scattered(channels, 3),
                           bias = scattered(channels, 4);
  std::vector<float> expected = x;
  for (std::size_t i = 0; biased && i < x.size(); ++i) expected[i] += bias[i % channels];
  kernels::layer_norm(expected.data(), expected.data(), kernels::Format::fp32, row.rows,
                      row.channels, gamma.data(), beta.data(), 1e-5F);
  const DeviceMemory from(encoded(x, format), row.misaligned), gammas(tests::bytes_of(gamma)),
      betas(tests::bytes_of(beta)), biases(tests::bytes_of(bias)),
      apart(from.get().size(), row.misaligned);
  const auto run = [&](const DeviceMemory& to) {
    cuda::layer_norm({.format = format, .rows = row.rows, .channels = row.channels},
                     {.x = from.data(),
                      .bias = biased ? floats(biases) : nullptr,
                      .gamma = floats(gammas),
                      .beta = floats(betas),
                      .y = to.data()},
                     nullptr);
    return to.get();
  };
  const std::vector<std::uint8_t> got = run(apart);
  check_rounded(got, expected, format, 1e-5);
  CHECK(run(from) == got);
}

TEST_CASE("the LayerNorm kernel stays exact where the mean is large") {
  NAVTALK_NEEDS_DEVICE();
  const bool by_bias = GENERATE(true, false);
  const std::vector<float> x = scattered(600, 1, by_bias ? 0 : 10000.0F), ones(300, 1.0F),
                           zeros(300, 0.0F), bias(300, 10000.0F);
  std::vector<float> expected(600), all = x;
  for (float& value : all) value += by_bias ? 10000.0F : 0;
  kernels::layer_norm(all.data(), expected.data(), kernels::Format::fp32, 2, 300, ones.data(),
                      zeros.data(), 1e-5F);
  const DeviceMemory from(tests::bytes_of(x)), gamma(tests::bytes_of(ones)),
      beta(tests::bytes_of(zeros)), biases(tests::bytes_of(bias));
  cuda::layer_norm({.format = Format::fp32, .rows = 2, .channels = 300},
                   {.x = from.data(),
                    .bias = by_bias ? floats(biases) : nullptr,
                    .gamma = floats(gamma),
                    .beta = floats(beta),
                    .y = from.data()},
                   nullptr);
  CHECK(tests::furthest_rounding(decoded(from.get(), Format::fp32), expected, 2e-3) <= 1);
}

TEST_CASE("the kernel that puts phases together agrees with its twin") {
  NAVTALK_NEEDS_DEVICE();
  const Format format = GENERATE(Format::fp32, Format::fp16);
  struct Case {
    int images, h, w, channels;
    bool biased;
  };
  const Case one =
      GENERATE(Case{1, 1, 1, 8, true}, Case{2, 3, 5, 12, false}, Case{3, 4, 2, 7, true},
               Case{1, 9, 8, 64, true}, Case{0, 4, 4, 8, true});
  INFO(one.images << " x " << one.h << " x " << one.w << " x " << one.channels);
  const auto images = static_cast<std::size_t>(one.images), h = static_cast<std::size_t>(one.h),
             w = static_cast<std::size_t>(one.w), channels = static_cast<std::size_t>(one.channels);
  const std::vector<float> x = values(images * (h + 1) * (w + 1) * 4 * channels, 1, format),
                           bias = scattered(channels, 2);
  std::vector<float> expected(images * 4 * h * w * channels);
  kernels::interleave_phases(x.data(), expected.data(), kernels::Format::fp32, one.images, one.h,
                             one.w, one.channels);
  for (std::size_t i = 0; one.biased && i < expected.size(); ++i) expected[i] += bias[i % channels];
  const DeviceMemory from(encoded(x, format)), biases(tests::bytes_of(bias)),
      to(encoded(expected, format).size());
  cuda::interleave_phases(
      {.format = format, .images = one.images, .h = one.h, .w = one.w, .channels = one.channels},
      from.data(), one.biased ? floats(biases) : nullptr, to.data(), nullptr);
  check_rounded(to.get(), expected, format);
}
