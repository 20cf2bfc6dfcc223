// Every kernel against plain ATen operators in double, at sizes that leave vector tails, for each
// format and instruction set.
#include <ATen/ATen.h>

#include <catch2/catch.hpp>

#include "gpu/kernels/attention/attention.h"
#include "gpu/kernels/group_norm.h"
#include "gpu/kernels/maps.h"
#include "gpu/kernels/tokens.h"
#include "tests/gpu/nets/compare.h"
#include "tests/gpu/nets/instruction_sets.h"

namespace navtalk {
namespace {

using kernels::Format;
using kernels::Isa;
using tests::difference;
using tests::scalar;
using tests::tolerance;

// Random values around an offset, as the kernels get them: [rows, channels] of the format.
at::Tensor random(at::IntArrayRef shape, Format format, double offset = 0) {
  return (at::randn(shape) * 2 + offset).to(scalar(format)).contiguous();
}

}  // namespace

TEST_CASE("GroupNorm with SiLU equals ATen's, concatenation included, at awkward sizes") {
  at::manual_seed(1);
  const auto format = GENERATE(Format::fp32, Format::bf16);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  struct Size {
    std::int64_t images, pixels, channels, skip, groups;
    double offset;
  };
  const auto size =
      GENERATE(Size{1, 16, 32, 0, 8, 0}, Size{2, 1, 16, 0, 4, 0}, Size{1, 49, 24, 0, 8, 0},
               Size{2, 81, 40, 24, 8, 0}, Size{1, 1024, 320, 320, 32, 0},
               Size{1, 4096, 16, 0, 8, 30}, Size{1, 2500, 8, 0, 8, -7}, Size{1, 9, 20, 12, 4, 0});
  const bool silu = GENERATE(true, false);
  const std::int64_t total = size.channels + size.skip;
  const at::Tensor x = random({size.images, size.pixels, size.channels}, format, size.offset);
  const at::Tensor skip = random({size.images, size.pixels, size.skip}, format);
  const at::Tensor gamma = at::randn({total}), beta = at::randn({total});
  at::Tensor y = at::empty({size.images, size.pixels, total}, x.options());
  kernels::group_norm({.x = x.data_ptr(),
                       .skip = size.skip > 0 ? skip.data_ptr() : nullptr,
                       .y = y.data_ptr(),
                       .format = format,
                       .images = size.images,
                       .pixels = size.pixels,
                       .channels = size.channels,
                       .skip_channels = size.skip,
                       .gamma = gamma.data_ptr<float>(),
                       .beta = beta.data_ptr<float>(),
                       .groups = size.groups,
                       .eps = 1e-6F,
                       .silu = silu},
                      isa);
  at::Tensor expected =
      at::group_norm(at::cat({x, skip}, 2).to(at::kDouble).transpose(1, 2), size.groups,
                     gamma.to(at::kDouble), beta.to(at::kDouble), 1e-6)
          .transpose(1, 2);
  if (silu) expected = at::silu(expected);
  CHECK(difference(y, expected) < tolerance(format));
}

TEST_CASE("GroupNorm's statistics stay exact in fp32 where most of a map is constant") {
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  // As below a mask: one outlier in front, half of the rest one value that has no short sum.
  constexpr std::int64_t k_pixels = 1L << 16, k_channels = 8;
  at::manual_seed(5);
  at::Tensor x = at::randn({1, k_pixels, k_channels}) * 0.1;
  x.narrow(1, k_pixels / 2, k_pixels / 2).copy_(at::randn({k_channels}) + 3.3);
  x.select(1, 0).fill_(-5);
  const at::Tensor gamma = at::ones({k_channels}), beta = at::zeros({k_channels});
  at::Tensor y = at::empty_like(x);
  kernels::group_norm({.x = x.data_ptr(),
                       .y = y.data_ptr(),
                       .pixels = k_pixels,
                       .channels = k_channels,
                       .gamma = gamma.data_ptr<float>(),
                       .beta = beta.data_ptr<float>(),
                       .groups = k_channels,
                       .eps = 1e-6F,
                       .silu = false},
                      isa);
  const at::Tensor expected =
      at::group_norm(x.to(at::kDouble).transpose(1, 2), k_channels, {}, {}, 1e-6).transpose(1, 2);
  // What the differing pixels of a channel err in common comes from its statistics.
  const at::Tensor error = (y - expected).narrow(1, 0, k_pixels / 2).mean(1);
  CHECK(error.abs().max().item<double>() < 1e-7);
}

TEST_CASE("GroupNorm gives the same bytes for an image alone and in a batch") {
  at::manual_seed(2);
  const auto format = GENERATE(Format::fp32, Format::bf16);
  const at::Tensor x = random({3, 1030, 48}, format), gamma = at::randn({48}),
                   beta = at::randn({48});
  at::Tensor together = at::empty_like(x), alone = at::empty_like(x[1]);
  kernels::GroupNorm norm{.x = x.data_ptr(),
                          .y = together.data_ptr(),
                          .format = format,
                          .images = 3,
                          .pixels = 1030,
                          .channels = 48,
                          .gamma = gamma.data_ptr<float>(),
                          .beta = beta.data_ptr<float>(),
                          .groups = 8};
  kernels::group_norm(norm);
  const at::Tensor middle = x[1].contiguous();
  norm.x = middle.data_ptr();
  norm.y = alone.data_ptr();
  norm.images = 1;
  kernels::group_norm(norm);
  CHECK(at::equal(together[1], alone));
}

TEST_CASE("LayerNorm, GELU and GEGLU equal ATen's at awkward widths") {
  at::manual_seed(3);
  const auto format = GENERATE(Format::fp32, Format::bf16);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const std::int64_t rows = GENERATE(1, 7, 300), channels = GENERATE(1, 15, 16, 40, 64, 131);
  const at::Tensor x = random({rows, 2 * channels}, format, 0.5);

  const at::Tensor gamma = at::randn({2 * channels}), beta = at::randn({2 * channels});
  at::Tensor normed = at::empty_like(x);
  kernels::layer_norm(x.data_ptr(), normed.data_ptr(), format, rows, 2 * channels,
                      gamma.data_ptr<float>(), beta.data_ptr<float>(), 1e-5F, isa);
  CHECK(difference(normed, at::layer_norm(x.to(at::kDouble), {2 * channels}, gamma.to(at::kDouble),
                                          beta.to(at::kDouble), 1e-5)) <
        4 * tolerance(format));  // two channels: their difference cancels

  at::Tensor activated = at::empty_like(x);
  kernels::gelu(x.data_ptr(), activated.data_ptr(), format, x.numel(), isa);
  CHECK(difference(activated, at::gelu(x.to(at::kDouble))) < tolerance(format));

  at::Tensor gated = at::empty({rows, channels}, x.options());
  kernels::geglu(x.data_ptr(), gated.data_ptr(), format, rows, channels, isa);
  const std::vector<at::Tensor> halves = x.to(at::kDouble).chunk(2, 1);
  CHECK(difference(gated, halves[0] * at::gelu(halves[1])) < tolerance(format));
}

TEST_CASE(
    "attention equals ATen's at awkward numbers of tokens and widths, of parts of a wider tensor") {
  at::manual_seed(6);
  const auto format = GENERATE(Format::fp32, Format::bf16);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  if (!kernels::has_attention(format, isa)) return;
  struct Size {
    std::int64_t images, heads, queries, keys, width;
  };
  const auto size =
      GENERATE(Size{1, 1, 1, 1, 1}, Size{2, 2, 7, 9, 8}, Size{1, 3, 64, 50, 20},
               Size{2, 1, 13, 130, 33}, Size{1, 2, 100, 1024, 16}, Size{1, 1, 6, 24, 64});
  const std::int64_t channels = size.heads * size.width;
  const at::Tensor q = random({size.images, size.queries, channels}, format);
  const at::Tensor kv = random({size.images, size.keys, 2 * channels}, format);
  const at::Tensor k = kv.narrow(2, 0, channels), v = kv.narrow(2, channels, channels);
  const auto tokens = [](const at::Tensor& x) {
    return kernels::Tokens{.data = x.const_data_ptr(), .image = x.stride(0), .row = x.stride(1)};
  };
  // Beyond the result nothing may be written.
  at::Tensor y = at::full({size.images * size.queries * channels + 32}, 7.0, q.options());
  kernels::attention({.q = tokens(q),
                      .k = tokens(k),
                      .v = tokens(v),
                      .y = y.mutable_data_ptr(),
                      .format = format,
                      .images = size.images,
                      .heads = size.heads,
                      .queries = size.queries,
                      .keys = size.keys,
                      .width = size.width},
                     isa);
  const auto split = [&](const at::Tensor& x) {
    return x.to(at::kDouble).unflatten(2, {size.heads, size.width}).transpose(1, 2);
  };
  const at::Tensor expected =
      at::scaled_dot_product_attention(split(q), split(k), split(v)).transpose(1, 2).flatten(2);
  CHECK(difference(y.narrow(0, 0, expected.numel()).view(expected.sizes()), expected) <
        3 * tolerance(format));
  CHECK(at::all(y.narrow(0, expected.numel(), 32) == 7).item<bool>());
}

TEST_CASE("SiLU and GELU hold at the ends of the number range") {
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const at::Tensor x = at::tensor({-3e38F, -1000.0F, -90.0F, -87.5F, -20.0F, -1e-30F, 0.0F, 1e-30F,
                                   20.0F, 87.5F, 90.0F, 1000.0F, 3e38F});
  at::Tensor y = at::empty_like(x);
  kernels::gelu(x.data_ptr(), y.data_ptr(), Format::fp32, x.numel(), isa);
  CHECK(at::allclose(y.to(at::kDouble), at::gelu(x.to(at::kDouble)), 1e-6, 1e-30));

  // One pixel per group would be normalised away, so the scale goes in through LayerNorm's twin:
  // two channels of opposite sign keep their size when gamma is large.
  const at::Tensor pair = at::tensor({-1.0F, 1.0F}), zero = at::zeros({2});
  for (const float size : {1.0F, 50.0F, 88.0F, 104.0F, 500.0F, 1e30F}) {
    const at::Tensor gamma = at::full({2}, size);
    at::Tensor out = at::empty_like(pair);
    kernels::group_norm({.x = pair.data_ptr(),
                         .y = out.data_ptr(),
                         .pixels = 1,
                         .channels = 2,
                         .gamma = gamma.data_ptr<float>(),
                         .beta = zero.data_ptr<float>(),
                         .groups = 1,
                         .eps = 1e-12F},
                        isa);
    CHECK(at::allclose(out.to(at::kDouble), at::silu((pair * size).to(at::kDouble)), 1e-5, 1e-30));
  }
}

TEST_CASE("phases interleave into the doubled map") {
  const auto format = GENERATE(Format::fp32, Format::bf16);
  const at::Tensor x = random({2, 4, 6, 4, 5}, format);  // h = 3, w = 5, 5 channels
  at::Tensor y = at::empty({2, 6, 10, 5}, x.options());
  kernels::interleave_phases(x.data_ptr(), y.data_ptr(), format, 2, 3, 5, 5);
  for (std::int64_t row = 0; row < 6; ++row)
    for (std::int64_t column = 0; column < 10; ++column) {
      const std::int64_t py = row % 2, px = column % 2;
      const at::Tensor from =
          x.select(1, row / 2 + py).select(1, column / 2 + px).select(1, 2 * py + px);
      REQUIRE(at::equal(y.select(1, row).select(1, column), from));
    }
}

TEST_CASE("planes are enlarged as libtorch does with corners upon corners") {
  const at::Tensor x = random({3, 5, 7}, Format::fp32);
  const auto [h, w] =
      GENERATE(std::pair{40, 56}, std::pair{6, 7}, std::pair{5, 8}, std::pair{1, 1});
  at::Tensor y = at::empty({3, h, w});
  kernels::enlarge_planes(x.const_data_ptr<float>(), y.data_ptr<float>(), 3, 5, 7, h, w);
  CHECK(at::allclose(y, at::upsample_bilinear2d(x.unsqueeze(0), {h, w}, true)[0], 1e-6, 1e-6));
}

TEST_CASE("decoder output becomes BGR bytes, halves to even, bounds and NaN held") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // 2 * v / 255 - 1 is a tie at v = k + 0.5 only approximately, so the ties come as exact values.
  const at::Tensor x = at::tensor({-1.0F, 0.0F, 1.0F, -7.0F, 7.0F, nan});
  std::array<std::uint8_t, 6> y{};
  kernels::to_bgr_bytes(x.data_ptr(), 3, Format::fp32, 2, y.data());
  CHECK(y == std::array<std::uint8_t, 6>{255, 128, 0, 0, 255, 0});

  at::manual_seed(4);
  const at::Tensor map = at::randn({1000, 4});
  at::Tensor bytes = at::empty({1000, 3}, at::kByte);
  kernels::to_bgr_bytes(map.data_ptr(), 4, Format::fp32, 1000, bytes.data_ptr<std::uint8_t>());
  const at::Tensor expected =
      at::round((map.narrow(1, 0, 3) / 2 + 0.5).clamp(0, 1) * 255).to(at::kByte).flip({1});
  CHECK(at::equal(bytes, expected));
}

}  // namespace navtalk
