// Direct convolutions against ATen's in double, and the layers that choose them.
#include "gpu/kernels/conv/direct_conv.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

#include "gpu/nets/layers/conv.h"
#include "gpu/nets/layers/linear.h"
#include "tests/gpu/nets/compare.h"
#include "tests/gpu/nets/instruction_sets.h"

namespace navtalk {
namespace {

using kernels::Activation;
using kernels::DirectConv;
using kernels::DirectMaps;
using kernels::Isa;
using tests::activated;
using tests::difference;

constexpr double k_direct_limit = 2e-6;

// One convolution with random weights, and what it should give.
struct Direct {
  DirectConv::Shape shape;
  std::int64_t images, height, width;
  Activation activation = Activation::none;
  at::Tensor weight = at::randn({shape.out, shape.in, shape.rows, shape.columns}) /
                      std::sqrt(static_cast<double>(shape.in * shape.rows * shape.columns));
  at::Tensor bias = at::randn({shape.out});
  at::Tensor x =
      at::randn({images, shape.in, height, width}).contiguous(at::MemoryFormat::ChannelsLast);

  at::Tensor run(const at::Tensor& input, Isa isa, const at::Tensor& start = {}) const {
    const DirectConv conv(shape, weight.const_data_ptr<float>(), bias.const_data_ptr<float>(),
                          activation);
    const std::array<std::int64_t, 4> size{input.size(0), shape.out, shape.rows_for(height),
                                           shape.columns_for(width)};
    at::Tensor y = start.defined() ? start.clone()
                                   : at::full(size, NAN).contiguous(at::MemoryFormat::ChannelsLast);
    DirectMaps maps{.x = input.const_data_ptr<float>(),
                    .y = y.mutable_data_ptr<float>(),
                    .images = input.size(0),
                    .height = height,
                    .width = width};
    if (start.defined()) maps.add = maps.y;
    direct_conv(conv, maps, isa);
    return y;
  }
  at::Tensor expected() const {
    return at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), shape.stride,
                      {shape.row_padding, shape.column_padding});
  }
};

}  // namespace

TEST_CASE("a direct convolution equals the plain one, for awkward kernels, channels and sizes") {
  at::manual_seed(51);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const auto activation = GENERATE(Activation::none, Activation::relu, Activation::silu);
  const Direct c = GENERATE(
      Direct{{.in = 1, .out = 1}, 1, 1, 1}, Direct{{.in = 17, .out = 23}, 1, 1, 13},
      Direct{{.in = 300, .out = 16}, 2, 3, 5}, Direct{{.in = 5, .out = 700}, 1, 9, 7},
      Direct{{.in = 16, .out = 33, .rows = 3, .columns = 3, .row_padding = 1, .column_padding = 1},
             3,
             5,
             7},
      Direct{{.in = 20,
              .out = 8,
              .rows = 3,
              .columns = 3,
              .stride = 2,
              .row_padding = 1,
              .column_padding = 1},
             2,
             9,
             12},
      Direct{{.in = 260, .out = 12, .rows = 7, .columns = 5, .row_padding = 3, .column_padding = 2},
             1,
             4,
             6},
      Direct{{.in = 16, .out = 16, .rows = 2, .columns = 1, .stride = 3, .column_padding = 2},
             2,
             11,
             6},
      // More pixels and channels than are made at once, and chains of several taps.
      Direct{{.in = 40, .out = 528, .rows = 3, .columns = 3, .row_padding = 1, .column_padding = 1},
             1,
             12,
             11});
  const Direct with{c.shape, c.images, c.height, c.width, activation, c.weight, c.bias, c.x};
  CHECK(difference(with.run(c.x, isa), activated(c.expected(), activation)) < k_direct_limit);
}

TEST_CASE("a direct convolution adds to what is there before it activates") {
  at::manual_seed(52);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const Direct c{{.in = 32, .out = 21}, 2, 6, 5, Activation::relu};
  const at::Tensor start = at::randn({2, 21, 6, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  CHECK(difference(c.run(c.x, isa, start), at::relu(c.expected() + start.to(at::kDouble))) <
        k_direct_limit);
}

TEST_CASE("neither threads nor neighbours in the batch change a byte of a direct convolution") {
  at::manual_seed(53);
  // Threads divide the pixels of the first, and the output channels of the second.
  const Direct c = GENERATE(
      Direct{{.in = 64, .out = 48, .rows = 3, .columns = 3, .row_padding = 1, .column_padding = 1},
             3,
             17,
             23},
      Direct{{.in = 300, .out = 290, .columns = 3, .column_padding = 1}, 3, 7, 5});
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

TEST_CASE("a convolution with a stride takes maps that are no whole memory of their own") {
  at::manual_seed(54);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const at::Tensor weight = at::randn({24, 32, 3, 3}) / 17, bias = at::randn({24});
  const nets::Conv layer(weight, bias, {.stride = 2, .map_size = {8, 10}}, type);
  const at::Tensor wide =
      at::randn({2, 48, 8, 10}).to(type).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor x = wide.narrow(1, 16, 32);
  const at::Tensor expected =
      at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), 2, 1);
  CHECK(difference(layer(x), expected) < 3 * tests::tolerance(type));
}

TEST_CASE(
    "a linear layer equals the formula, with and without bias and sum, whatever the threads") {
  at::manual_seed(55);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const bool biased = GENERATE(false, true);
  const at::Tensor weight = at::randn({40, 72}) / 9;
  const at::Tensor bias = biased ? at::randn({40}) : at::Tensor();
  const nets::Linear layer(weight, bias, 30, type);
  const at::Tensor x = at::randn({2, 15, 72}).to(type), other = at::randn({2, 15, 40}).to(type);
  at::Tensor expected = at::linear(x.to(at::kDouble), weight.to(at::kDouble));
  if (biased) expected = expected + bias.to(at::kDouble);
  const double limit = 3 * tests::tolerance(type);
  CHECK(difference(layer(x), expected) < limit);
  CHECK(difference(layer.plus(x, other), expected + other.to(at::kDouble)) < limit);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = layer(x);
  at::set_num_threads(3);
  const at::Tensor three = layer(x);
  at::set_num_threads(before);
  CHECK(at::equal(one, three));
}

}  // namespace navtalk
