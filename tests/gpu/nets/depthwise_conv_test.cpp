// Depthwise convolutions against ATen's in double, and the layer that chooses them.
#include "gpu/kernels/conv/depthwise_conv.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

#include "gpu/nets/layers/conv.h"
#include "tests/gpu/nets/compare.h"
#include "tests/gpu/nets/instruction_sets.h"

namespace navtalk {
namespace {

using kernels::Activation;
using kernels::DepthwiseConv;
using kernels::Isa;
using tests::activated;
using tests::difference;

// One convolution with random weights, and what it should give.
struct Depthwise {
  std::int64_t images, channels, height, width, taps;
  Activation activation = Activation::none;
  at::Tensor weight = at::randn({channels, 1, taps, taps}) / static_cast<double>(taps);
  at::Tensor bias = at::randn({channels});
  at::Tensor x =
      at::randn({images, channels, height, width}).contiguous(at::MemoryFormat::ChannelsLast);

  at::Tensor run(const at::Tensor& input, Isa isa, const at::Tensor& start = {}) const {
    const DepthwiseConv conv(weight.const_data_ptr<float>(), bias.const_data_ptr<float>(), channels,
                             taps, activation);
    at::Tensor y = start.defined() ? start.clone()
                                   : at::full_like(input, NAN, {}, at::MemoryFormat::ChannelsLast);
    depthwise_conv(conv,
                   {.x = input.const_data_ptr<float>(),
                    .y = y.mutable_data_ptr<float>(),
                    .add = start.defined() ? y.const_data_ptr<float>() : nullptr,
                    .images = input.size(0),
                    .height = height,
                    .width = width},
                   isa);
    return y;
  }
  at::Tensor expected() const {
    return at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), 1, taps / 2,
                      1, channels);
  }
};

}  // namespace

TEST_CASE("a depthwise convolution equals the plain one, borders included, at awkward sizes") {
  at::manual_seed(61);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const auto activation = GENERATE(Activation::none, Activation::relu, Activation::silu);
  const Depthwise c =
      GENERATE(Depthwise{1, 16, 1, 1, 5}, Depthwise{2, 16, 3, 2, 7}, Depthwise{3, 48, 5, 12, 5},
               Depthwise{2, 32, 7, 29, 3}, Depthwise{1, 64, 2, 13, 1}, Depthwise{1, 16, 9, 20, 7});
  const Depthwise with{c.images,   c.channels, c.height, c.width, c.taps,
                       activation, c.weight,   c.bias,   c.x};
  CHECK(difference(with.run(c.x, isa), activated(c.expected(), activation)) < 2e-6);
}

TEST_CASE("a depthwise convolution adds to what is there before it activates") {
  at::manual_seed(62);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const Depthwise c{2, 32, 6, 11, 5, Activation::relu};
  const at::Tensor start = at::randn({2, 32, 6, 11}).contiguous(at::MemoryFormat::ChannelsLast);
  CHECK(difference(c.run(c.x, isa, start), at::relu(c.expected() + start.to(at::kDouble))) < 2e-6);
}

TEST_CASE("neither threads nor neighbours in the batch change a byte of a depthwise convolution") {
  at::manual_seed(63);
  const Depthwise c{3, 48, 17, 23, 5};
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = c.run(c.x, kernels::best_isa());
  const at::Tensor last = c.run(c.x.narrow(0, 2, 1), kernels::best_isa());
  at::set_num_threads(3);
  const at::Tensor three = c.run(c.x, kernels::best_isa());
  at::set_num_threads(before);
  CHECK(at::equal(one, three));
  CHECK(at::equal(one.narrow(0, 2, 1), last));
}

TEST_CASE(
    "a layer whose channels do not see each other equals the formula, with and without a sum") {
  at::manual_seed(64);
  const auto type = GENERATE(from_range(tests::packed_types()));
  // The last is not for our own kernel: two channels of a group see each other.
  const std::int64_t seen = GENERATE(1, 2);
  const at::Tensor weight = at::randn({32, seen, 5, 5}) / 5, bias = at::randn({32});
  const nets::Conv layer(weight, bias,
                         {.padding = {2, 2},
                          .map_size = {12, 10},
                          .groups = 32 / seen,
                          .activation = Activation::silu,
                          .split_sums = false},
                         type);
  const auto map = [&] {
    return at::randn({2, 32, 12, 10}).to(type).contiguous(at::MemoryFormat::ChannelsLast);
  };
  const at::Tensor x = map(), other = map();
  const at::Tensor alone = at::conv2d(x.to(at::kDouble), weight.to(at::kDouble),
                                      bias.to(at::kDouble), 1, 2, 1, 32 / seen);
  const double limit = 3 * tests::tolerance(type);
  CHECK(difference(layer(x), at::silu(alone)) < limit);
  CHECK(difference(layer.then_plus(x, other), at::silu(alone) + other.to(at::kDouble)) < limit);
}

TEST_CASE("a sum behind the activation equals the formula, whatever the kernel") {
  at::manual_seed(65);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const auto activation = GENERATE(Activation::none, Activation::relu, Activation::silu);
  const std::int64_t outputs = GENERATE(21, 32);
  const at::Tensor weight = at::randn({outputs, 48, 1, 1}) / 7, bias = at::randn({outputs});
  const nets::Conv layer(weight, bias,
                         {.padding = {0, 0}, .map_size = {6, 7}, .activation = activation}, type);
  const auto map = [&](std::int64_t channels) {
    return at::randn({2, channels, 6, 7}).to(type).contiguous(at::MemoryFormat::ChannelsLast);
  };
  const at::Tensor x = map(48), other = map(outputs);
  const at::Tensor alone =
      at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble));
  CHECK(
      difference(layer.then_plus(x, other), activated(alone, activation) + other.to(at::kDouble)) <
      3 * tests::tolerance(type));
}

}  // namespace navtalk
