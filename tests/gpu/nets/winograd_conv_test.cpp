// Winograd convolutions against ATen's in double, and the layers that choose them.
#include "gpu/kernels/winograd/winograd_conv.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

#include "gpu/nets/layers/conv.h"
#include "gpu/nets/layers/norm_conv.h"
#include "tests/gpu/nets/compare.h"
#include "tests/gpu/nets/instruction_sets.h"

namespace navtalk {
namespace {

using kernels::Format;
using kernels::Isa;
using kernels::WinogradConv;
using kernels::WinogradKind;
using kernels::WinogradMaps;
using tests::difference;
using tests::scalar;

// Of sums that Winograd's change of base makes longer.
double limit(Format format) { return format == Format::fp32 ? 5e-6 : 1e-2; }

at::Tensor random_map(at::IntArrayRef shape, Format format) {
  return at::randn(shape).to(scalar(format)).contiguous(at::MemoryFormat::ChannelsLast);
}

// One convolution with random weights, and what it should give.
struct Case {
  WinogradKind kind;
  std::int64_t in, out, height, width;
  at::Tensor weight = at::randn({out, in, 3, 3}) / std::sqrt(9.0 * static_cast<double>(in));
  at::Tensor bias = at::randn({out});
  Format format = Format::bf16;
  at::Tensor x = random_map({2, in, height, width}, format);

  Case of(Format other) const { return {kind, in, out, height, width, weight, bias, other}; }
  at::Tensor run(WinogradMaps maps, Isa isa, const at::Tensor& start = {}) const {
    const WinogradConv conv(kind, format, weight.const_data_ptr<float>(),
                            bias.const_data_ptr<float>(), in, out);
    const std::int64_t times = kind == WinogradKind::same ? 1 : 2;
    at::Tensor y = start.defined() ? start.clone()
                                   : at::empty({2, out, times * height, times * width}, x.options(),
                                               at::MemoryFormat::ChannelsLast);
    maps.x = x.const_data_ptr();
    maps.y = y.mutable_data_ptr();
    if (start.defined()) maps.add = maps.y;
    maps.images = 2;
    maps.height = height;
    maps.width = width;
    winograd_conv(conv, maps, isa);
    return y;
  }
  at::Tensor expected(at::Tensor input) const {
    if (kind == WinogradKind::doubled)
      input = at::upsample_nearest2d(input, {2 * height, 2 * width});
    return at::conv2d(input, weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
  }
};

bool taken(const Case& c) { return c.format == Format::bf16 || c.kind == WinogradKind::doubled; }

}  // namespace

TEST_CASE("a Winograd convolution equals the plain one, borders included, at awkward sizes") {
  at::manual_seed(21);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const auto format = GENERATE(Format::fp32, Format::bf16);
  const Case c =
      GENERATE(Case{WinogradKind::same, 16, 16, 2, 2}, Case{WinogradKind::same, 16, 48, 4, 6},
               Case{WinogradKind::same, 32, 16, 2, 34}, Case{WinogradKind::same, 48, 32, 6, 18},
               Case{WinogradKind::same, 64, 112, 8, 30}, Case{WinogradKind::same, 16, 32, 4, 98},
               Case{WinogradKind::doubled, 16, 16, 1, 1}, Case{WinogradKind::doubled, 32, 48, 3, 5},
               Case{WinogradKind::doubled, 16, 64, 2, 19},
               Case{WinogradKind::doubled, 32, 16, 3, 55})
          .of(format);
  if (!taken(c)) return;
  CHECK(difference(c.run({}, isa), c.expected(c.x.to(at::kDouble))) < limit(format));
}

TEST_CASE("a Winograd convolution applies norm and SiLU on the way in, and adds on the way out") {
  at::manual_seed(22);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const auto format = GENERATE(Format::fp32, Format::bf16);
  const Case c =
      GENERATE(Case{WinogradKind::same, 32, 16, 10, 12}, Case{WinogradKind::doubled, 16, 32, 5, 9})
          .of(format);
  if (!taken(c)) return;
  const at::Tensor scale = at::randn({2, c.in}), shift = at::randn({2, c.in});
  const at::Tensor added = c.kind == WinogradKind::same
                               ? random_map({2, c.out, c.height, c.width}, format)
                               : random_map({2, c.out, 10, 18}, format);
  const at::Tensor actual = c.run(
      {.scale = scale.const_data_ptr<float>(), .shift = shift.const_data_ptr<float>()}, isa, added);
  const auto per_channel = [&](const at::Tensor& t) {
    return t.to(at::kDouble).view({2, c.in, 1, 1});
  };
  const at::Tensor input = at::silu(c.x.to(at::kDouble) * per_channel(scale) + per_channel(shift));
  CHECK(difference(actual, c.expected(input) + added.to(at::kDouble)) < limit(format));
}

TEST_CASE("the number of threads changes no byte of a Winograd convolution") {
  at::manual_seed(23);
  const auto format = GENERATE(Format::fp32, Format::bf16);
  const auto kind = format == Format::fp32 ? WinogradKind::doubled : WinogradKind::same;
  const Case c = Case{kind, 32, 32, 64, 64}.of(format);
  const at::Tensor scale = at::ones({2, c.in}), shift = at::zeros({2, c.in});
  const WinogradMaps maps{.scale = scale.const_data_ptr<float>(),
                          .shift = shift.const_data_ptr<float>()};
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = c.run(maps, kernels::best_isa());
  at::set_num_threads(3);
  const at::Tensor three = c.run(maps, kernels::best_isa());
  at::set_num_threads(before);
  CHECK(at::equal(one, three));
}

TEST_CASE("norm and convolution as one layer equal the formula, whoever convolves") {
  at::manual_seed(24);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const auto kernel = GENERATE(nets::ConvKernel::library, nets::ConvKernel::winograd);
  const std::int64_t out = GENERATE(32, 24);  // winograd takes the first
  const at::Tensor gamma = at::randn({32}) + 1, beta = at::randn({32});
  const at::Tensor weight = at::randn({out, 32, 3, 3}) / 17, bias = at::randn({out});
  const nets::Weights norm(
      [&](const std::string& name) { return name == "weight" ? gamma : beta; });
  const nets::NormConv layer(norm, weight, bias, {.map_size = 12, .groups = 8, .conv = kernel},
                             type);
  const auto map = [&](std::int64_t channels) {
    return at::randn({2, channels, 12, 12}).to(type).contiguous(at::MemoryFormat::ChannelsLast);
  };
  const at::Tensor x = map(32), other = map(out);
  const at::Tensor alone =
      at::conv2d(at::silu(at::group_norm(x.to(at::kDouble), 8, gamma.to(at::kDouble),
                                         beta.to(at::kDouble), 1e-5)),
                 weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
  const double limit = 3 * tests::tolerance(type);
  CHECK(difference(layer(x), alone) < limit);
  CHECK(difference(layer.consume(x.clone()), alone) < limit);
  CHECK(difference(layer.plus(x.clone(), other), alone + other.to(at::kDouble)) < limit);
  at::Tensor sum = other.clone();
  layer.add_to(sum, x.clone());
  CHECK(difference(sum, alone + other.to(at::kDouble)) < limit);
}

TEST_CASE("norm and convolution of two maps that are joined equal the formula, whoever convolves") {
  at::manual_seed(28);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const at::Tensor gamma = at::randn({48}) + 1, beta = at::randn({48});
  const at::Tensor weight = at::randn({32, 48, 3, 3}) / 20, bias = at::randn({32});
  const nets::Weights norm(
      [&](const std::string& name) { return name == "weight" ? gamma : beta; });
  const auto kernel = GENERATE(nets::ConvKernel::library, nets::ConvKernel::winograd);
  const nets::NormConv layer(norm, weight, bias, {.map_size = 12, .groups = 8, .conv = kernel},
                             type);
  const auto map = [&](std::int64_t channels) {
    return at::randn({2, channels, 12, 12}).to(type).contiguous(at::MemoryFormat::ChannelsLast);
  };
  const at::Tensor x = map(32), skip = map(16);
  const at::Tensor expected =
      at::conv2d(at::silu(at::group_norm(at::cat({x, skip}, 1).to(at::kDouble), 8,
                                         gamma.to(at::kDouble), beta.to(at::kDouble), 1e-5)),
                 weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
  CHECK(difference(layer(x, skip), expected) < 3 * tests::tolerance(type));
}

TEST_CASE("the doubling Winograd convolution equals oneDNN's sub-pixel form") {
  at::manual_seed(25);
  const std::int64_t size = GENERATE(1, 7, 16);
  const at::Tensor weight = at::randn({32, 16, 3, 3}) / 12, bias = at::randn({32});
  const auto type = GENERATE(from_range(tests::packed_types()));
  const Format format = type == at::kFloat ? Format::fp32 : Format::bf16;
  const at::Tensor x = random_map({2, 16, size, size}, format);
  const nets::UpConv library(weight, bias, size, type);
  const nets::UpConv winograd(weight, bias, size, type, nets::ConvKernel::winograd);
  CHECK(difference(winograd(x), library(x)) < limit(format));
}

TEST_CASE("the picture's convolution equals the formula, whoever convolves, at awkward widths") {
  at::manual_seed(26);
  const auto kernel = GENERATE(nets::ConvKernel::library, nets::ConvKernel::winograd);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const Format format = type == at::kFloat ? Format::fp32 : Format::bf16;
  const std::int64_t in = GENERATE(16, 48), width = GENERATE(1, 8, 21);
  const at::Tensor gamma = at::randn({in}) + 1, beta = at::randn({in});
  const at::Tensor weight = at::randn({3, in, 3, 3}) / 15, bias = at::randn({3});
  const nets::Weights norm(
      [&](const std::string& name) { return name == "weight" ? gamma : beta; });
  const nets::OutputConv layer(norm, weight, bias, {.map_size = width, .groups = 8, .conv = kernel},
                               type);
  const at::Tensor x = random_map({2, in, 6, width}, format);
  const at::Tensor expected =
      at::conv2d(at::silu(at::group_norm(x.to(at::kDouble), 8, gamma.to(at::kDouble),
                                         beta.to(at::kDouble), 1e-5)),
                 weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
  const at::Tensor y = layer(x.clone());
  CHECK(y.stride(1) == 1);
  CHECK(difference(y, expected) < limit(format));
}

TEST_CASE("the picture's convolution is the same portably") {
  at::manual_seed(27);
  const auto format = GENERATE(Format::fp32, Format::bf16);
  const std::int64_t in = 32, width = 13, height = 5;
  const at::Tensor weight = at::randn({3, in, 3, 3}) / 17, bias = at::randn({3});
  const at::Tensor scale = at::randn({2, in}), shift = at::randn({2, in});
  const at::Tensor x = random_map({2, in, height, width}, format);
  const kernels::OutputConv conv(format, weight.const_data_ptr<float>(),
                                 bias.const_data_ptr<float>(), in);
  const auto run = [&](Isa isa) {
    at::Tensor y = at::zeros({2, height, width, 4});
    kernels::output_conv(conv,
                         {.x = x.const_data_ptr(),
                          .y = y.mutable_data_ptr<float>(),
                          .images = 2,
                          .height = height,
                          .width = width,
                          .scale = scale.const_data_ptr<float>(),
                          .shift = shift.const_data_ptr<float>()},
                         isa);
    return y.narrow(3, 0, 3);
  };
  const auto per_channel = [&](const at::Tensor& t) {
    return t.to(at::kDouble).view({2, in, 1, 1});
  };
  const at::Tensor expected =
      at::conv2d(at::silu(x.to(at::kDouble) * per_channel(scale) + per_channel(shift)),
                 weight.to(at::kDouble), bias.to(at::kDouble), 1, 1)
          .permute({0, 2, 3, 1});
  for (const Isa isa : tests::instruction_sets())
    CHECK(difference(run(isa), expected) < limit(format));
}

}  // namespace navtalk
