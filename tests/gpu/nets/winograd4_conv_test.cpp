// Winograd's F(4x4, 3x3) against ATen's convolution in double, and the layer that chooses it.
#include "gpu/kernels/winograd/winograd4_conv.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

#include "gpu/nets/layers/conv.h"
#include "tests/gpu/nets/compare.h"
#include "tests/gpu/nets/instruction_sets.h"

namespace navtalk {
namespace {

using kernels::Activation;
using kernels::Isa;
using kernels::Winograd4Conv;
using kernels::Winograd4Maps;
using tests::difference;

constexpr double k_tiled_limit = 5e-6;

at::Tensor random_map(at::IntArrayRef shape) {
  return at::randn(shape).contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor activated(const at::Tensor& x, Activation activation) {
  if (activation == Activation::relu) return at::relu(x);
  return activation == Activation::silu ? at::silu(x) : x;
}

// One convolution with random weights, and what it should give.
struct Tiled {
  std::int64_t images, in, out, height, width;
  Activation activation = Activation::none;
  at::Tensor weight = at::randn({out, in, 3, 3}) / std::sqrt(9.0 * static_cast<double>(in));
  at::Tensor bias = at::randn({out});
  at::Tensor x = random_map({images, in, height, width});

  at::Tensor run(const at::Tensor& input, Winograd4Maps maps, Isa isa,
                 const at::Tensor& start = {}) const {
    const Winograd4Conv conv(weight.const_data_ptr<float>(), bias.const_data_ptr<float>(), in, out,
                             activation);
    // What must be written is not a number before.
    at::Tensor y = start.defined() ? start.clone()
                                   : at::full({input.size(0), out, height, width}, NAN)
                                         .contiguous(at::MemoryFormat::ChannelsLast);
    maps.x = input.const_data_ptr<float>();
    maps.y = y.mutable_data_ptr<float>();
    if (start.defined()) maps.add = maps.y;
    maps.images = input.size(0);
    maps.height = height;
    maps.width = width;
    winograd4_conv(conv, maps, isa);
    return y;
  }
  at::Tensor expected(const at::Tensor& input) const {
    return at::conv2d(input, weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
  }
};

}  // namespace

TEST_CASE("F(4x4, 3x3) equals the plain convolution, borders included, at awkward sizes") {
  at::manual_seed(41);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const auto activation = GENERATE(Activation::none, Activation::relu, Activation::silu);
  const Tiled c =
      GENERATE(Tiled{1, 16, 16, 1, 1}, Tiled{2, 16, 48, 4, 6}, Tiled{3, 32, 16, 5, 3},
               Tiled{2, 48, 32, 7, 35}, Tiled{1, 64, 112, 9, 97}, Tiled{2, 16, 32, 3, 98},
               Tiled{1, 272, 160, 6, 11}, Tiled{1, 528, 16, 5, 5});
  const Tiled with{c.images, c.in, c.out, c.height, c.width, activation, c.weight, c.bias, c.x};
  CHECK(difference(with.run(c.x, {}, isa), activated(c.expected(c.x.to(at::kDouble)), activation)) <
        k_tiled_limit);
}

TEST_CASE("F(4x4, 3x3) applies norm and SiLU on the way in, adds and activates on the way out") {
  at::manual_seed(42);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const auto activation = GENERATE(Activation::none, Activation::relu);
  const Tiled c{2, 32, 16, 13, 14, activation};
  const at::Tensor scale = at::randn({2, c.in}), shift = at::randn({2, c.in});
  const at::Tensor added = random_map({2, c.out, c.height, c.width});
  const at::Tensor actual =
      c.run(c.x, {.scale = scale.const_data_ptr<float>(), .shift = shift.const_data_ptr<float>()},
            isa, added);
  const auto per_channel = [&](const at::Tensor& t) {
    return t.to(at::kDouble).view({2, c.in, 1, 1});
  };
  const at::Tensor input = at::silu(c.x.to(at::kDouble) * per_channel(scale) + per_channel(shift));
  CHECK(difference(actual, activated(c.expected(input) + added.to(at::kDouble), activation)) <
        k_tiled_limit);
}

TEST_CASE("neither threads nor neighbours in the batch change a byte of F(4x4, 3x3)") {
  at::manual_seed(43);
  // Threads divide the tiles of the first, and the output channels of the second.
  const Tiled c = GENERATE(Tiled{3, 32, 32, 33, 50}, Tiled{3, 144, 176, 9, 7});
  const at::Tensor scale = at::ones({3, c.in}), shift = at::zeros({3, c.in});
  const Winograd4Maps maps{.scale = scale.const_data_ptr<float>(),
                           .shift = shift.const_data_ptr<float>()};
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = c.run(c.x, maps, kernels::best_isa());
  const at::Tensor last = c.run(c.x.narrow(0, 2, 1), maps, kernels::best_isa());
  at::set_num_threads(3);
  const at::Tensor three = c.run(c.x, maps, kernels::best_isa());
  at::set_num_threads(before);
  CHECK(at::equal(one, three));
  CHECK(at::equal(one.narrow(0, 2, 1), last));
}

TEST_CASE("a convolution equals the formula, whoever convolves, with a sum and an activation") {
  at::manual_seed(44);
  const auto kernel = GENERATE(nets::ConvKernel::library, nets::ConvKernel::winograd);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const auto activation = GENERATE(Activation::none, Activation::relu, Activation::silu);
  const at::Tensor weight = at::randn({32, 48, 3, 3}) / 20, bias = at::randn({32});
  const nets::Conv layer(weight, bias,
                         {.map_size = {12, 10}, .activation = activation, .kernel = kernel}, type);
  const auto map = [&](std::int64_t channels) {
    return random_map({2, channels, 12, 10}).to(type);
  };
  const at::Tensor x = map(48), other = map(32);
  const at::Tensor alone =
      at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
  const double limit = 3 * tests::tolerance(type);
  CHECK(difference(layer(x), activated(alone, activation)) < limit);
  const at::Tensor both = alone + other.to(at::kDouble);
  CHECK(difference(layer.plus(x, other), activated(both, activation)) < limit);
  if (activation != Activation::none) return;
  at::Tensor sum = other.clone();
  layer.add_to(sum, x);
  CHECK(difference(sum, both) < limit);
}

}  // namespace navtalk
