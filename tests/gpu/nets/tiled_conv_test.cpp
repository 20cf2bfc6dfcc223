// Tiled convolutions against ATen's in double, and the layer that chooses them.
#include "gpu/kernels/winograd/tiled_conv.h"

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
using kernels::TiledConv;
using kernels::TiledKind;
using kernels::TiledMaps;
using tests::activated;
using tests::difference;

// F(2, 7) rounds more, for it has more points.
double limit_of(TiledKind kind) { return kind == TiledKind::seven ? 4e-5 : 5e-6; }

at::Tensor random_map(at::IntArrayRef shape) {
  return at::randn(shape).contiguous(at::MemoryFormat::ChannelsLast);
}

// One convolution with random weights, and what it should give.
struct Tiled {
  TiledKind kind;
  std::int64_t images, in, out, height, width;
  Activation activation = Activation::none;
  std::int64_t taps = kind == TiledKind::seven ? 7 : 3;
  std::int64_t stride = kind == TiledKind::three_halving ? 2 : 1;
  at::Tensor weight =
      at::randn({out, in, taps, taps}) / std::sqrt(static_cast<double>(taps * taps * in));
  at::Tensor bias = at::randn({out});
  at::Tensor x = random_map({images, in, height, width});

  at::Tensor run(const at::Tensor& input, TiledMaps maps, Isa isa,
                 const at::Tensor& start = {}) const {
    const TiledConv conv(kind, weight.const_data_ptr<float>(), bias.const_data_ptr<float>(), in,
                         out, activation);
    // What must be written is not a number before.
    at::Tensor y =
        start.defined()
            ? start.clone()
            : at::full({input.size(0), out, conv.size_for(height), conv.size_for(width)}, NAN)
                  .contiguous(at::MemoryFormat::ChannelsLast);
    maps.x = input.const_data_ptr<float>();
    maps.y = y.mutable_data_ptr<float>();
    if (start.defined()) maps.add = maps.y;
    maps.images = input.size(0);
    maps.height = height;
    maps.width = width;
    tiled_conv(conv, maps, isa);
    return y;
  }
  at::Tensor expected(const at::Tensor& input) const {
    return at::conv2d(input, weight.to(at::kDouble), bias.to(at::kDouble), stride, taps / 2);
  }
};

// Every kind.
auto kinds() { return GENERATE(TiledKind::three, TiledKind::three_halving, TiledKind::seven); }

}  // namespace

TEST_CASE("a tiled convolution equals the plain one, borders included, at awkward sizes") {
  at::manual_seed(41);
  const TiledKind kind = kinds();
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const auto activation = GENERATE(Activation::none, Activation::relu, Activation::silu);
  const Tiled c = GENERATE_COPY(Tiled{kind, 1, 16, 16, 1, 1}, Tiled{kind, 2, 16, 48, 4, 6},
                                Tiled{kind, 3, 32, 16, 5, 3}, Tiled{kind, 2, 48, 32, 7, 35},
                                Tiled{kind, 1, 64, 112, 9, 97}, Tiled{kind, 2, 16, 32, 3, 98},
                                Tiled{kind, 1, 272, 160, 6, 11}, Tiled{kind, 1, 528, 16, 5, 5});
  const Tiled with{kind,       c.images, c.in,     c.out,    c.height, c.width,
                   activation, c.taps,   c.stride, c.weight, c.bias,   c.x};
  CHECK(difference(with.run(c.x, {}, isa), activated(c.expected(c.x.to(at::kDouble)), activation)) <
        limit_of(kind));
}

TEST_CASE(
    "a tiled convolution applies norm and SiLU on the way in, adds and activates on the way out") {
  at::manual_seed(42);
  const auto isa = GENERATE(from_range(tests::instruction_sets()));
  const auto activation = GENERATE(Activation::none, Activation::relu);
  const TiledKind kind = kinds();
  const Tiled c{kind, 2, 32, 16, 13, 14, activation};
  const at::Tensor scale = at::randn({2, c.in}), shift = at::randn({2, c.in});
  const TiledConv sized(kind, c.weight.const_data_ptr<float>(), c.bias.const_data_ptr<float>(), 32,
                        16);
  const at::Tensor added = random_map({2, c.out, sized.size_for(13), sized.size_for(14)});
  const at::Tensor actual =
      c.run(c.x, {.scale = scale.const_data_ptr<float>(), .shift = shift.const_data_ptr<float>()},
            isa, added);
  const auto per_channel = [&](const at::Tensor& t) {
    return t.to(at::kDouble).view({2, c.in, 1, 1});
  };
  const at::Tensor input = at::silu(c.x.to(at::kDouble) * per_channel(scale) + per_channel(shift));
  CHECK(difference(actual, activated(c.expected(input) + added.to(at::kDouble), activation)) <
        limit_of(kind));
}

TEST_CASE("neither threads nor neighbours in the batch change a byte of a tiled convolution") {
  at::manual_seed(43);
  const TiledKind kind = kinds();
  // Threads divide the tiles of the first, and the output channels of the second.
  const Tiled c = GENERATE_COPY(Tiled{kind, 3, 32, 32, 33, 50}, Tiled{kind, 3, 144, 176, 9, 7});
  const at::Tensor scale = at::ones({3, c.in}), shift = at::zeros({3, c.in});
  const TiledMaps maps{.scale = scale.const_data_ptr<float>(),
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

TEST_CASE("the vector kernels of a tiled convolution give one result") {
  if (kernels::best_isa() != Isa::avx512) return;
  at::manual_seed(45);
  const Tiled c{kinds(), 2, 272, 48, 13, 50};
  CHECK(at::equal(c.run(c.x, {}, Isa::avx2), c.run(c.x, {}, Isa::avx512)));
}

TEST_CASE("a convolution equals the formula, whoever convolves, with a sum and an activation") {
  at::manual_seed(44);
  const auto kernel = GENERATE(nets::ConvKernel::library, nets::ConvKernel::winograd);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const auto activation = GENERATE(Activation::none, Activation::relu, Activation::silu);
  const auto [taps, stride] = GENERATE(std::pair<std::int64_t, std::int64_t>{3, 1},
                                       std::pair<std::int64_t, std::int64_t>{3, 2},
                                       std::pair<std::int64_t, std::int64_t>{7, 1});
  const at::Tensor weight = at::randn({32, 48, taps, taps}) / 7 / taps, bias = at::randn({32});
  const nets::Conv layer(weight, bias,
                         {.stride = stride,
                          .padding = {taps / 2, taps / 2},
                          .map_size = {12, 10},
                          .activation = activation,
                          .kernel = kernel},
                         type);
  const at::Tensor x = random_map({2, 48, 12, 10}).to(type);
  const at::Tensor other = random_map({2, 32, 12 / stride, 10 / stride}).to(type);
  const at::Tensor alone =
      at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), stride, taps / 2);
  const double limit = (taps == 7 ? 20 : 3) * tests::tolerance(type);  // F(2, 7) rounds more
  CHECK(difference(layer(x), activated(alone, activation)) < limit);
  const at::Tensor both = alone + other.to(at::kDouble);
  CHECK(difference(layer.plus(x, other), activated(both, activation)) < limit);
  if (activation != Activation::none) return;
  at::Tensor sum = other.clone();
  layer.add_to(sum, x);
  CHECK(difference(sum, both) < limit);
}

}  // namespace navtalk
