// Layers and blocks against the unfolded formulas of the reference in double, on random weights.
#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <map>

#include "gpu/nets/layers/attention.h"
#include "gpu/nets/resnet.h"
#include "gpu/nets/transformer.h"
#include "gpu/nets/unet.h"
#include "gpu/nets/vae.h"
#include "tests/gpu/nets/compare.h"
#include "tests/gpu/nets/instruction_sets.h"

namespace navtalk {
namespace {

using nets::Weights;
using tests::difference;
using tests::tolerance;

// Random tensors by name; the formulas below read the same ones in double.
class RandomWeights {
 public:
  void add(const std::string& name, at::IntArrayRef shape) {
    std::int64_t fan_in = 1;
    for (const std::int64_t n : shape.slice(1)) fan_in *= n;
    tensors_[name] = at::randn(shape) / std::sqrt(static_cast<double>(fan_in)) +
                     (name.find("norm") != std::string::npos ? 1.0 : 0.0);
  }
  void add_pair(const std::string& name, at::IntArrayRef shape) {
    add(name + ".weight", shape);
    add(name + ".bias", {shape[0]});
  }
  Weights weights() const {
    return Weights([this](const std::string& name) { return tensors_.at(name); });
  }
  at::Tensor operator[](const std::string& name) const { return tensors_.at(name).to(at::kDouble); }

 private:
  std::map<std::string, at::Tensor> tensors_;
};

at::Tensor random_map(at::IntArrayRef shape, at::ScalarType type) {
  return at::randn(shape).to(type).contiguous(at::MemoryFormat::ChannelsLast);
}

void add_resnet(RandomWeights& w, const std::string& name, std::int64_t in, std::int64_t out,
                std::int64_t time) {
  w.add_pair(name + "norm1", {in});
  w.add_pair(name + "conv1", {out, in, 3, 3});
  if (time > 0) w.add_pair(name + "time_emb_proj", {out, time});
  w.add_pair(name + "norm2", {out});
  w.add_pair(name + "conv2", {out, out, 3, 3});
  if (in != out) w.add_pair(name + "conv_shortcut", {out, in, 1, 1});
}

at::Tensor plain_resnet(const RandomWeights& w, const at::Tensor& x, std::int64_t groups,
                        double eps, const at::Tensor& time) {
  const auto norm = [&](const at::Tensor& h, const std::string& name) {
    return at::silu(at::group_norm(h, groups, w[name + ".weight"], w[name + ".bias"], eps));
  };
  const auto conv = [&](const at::Tensor& h, const std::string& name, std::int64_t padding) {
    return at::conv2d(h, w[name + ".weight"], w[name + ".bias"], 1, padding);
  };
  at::Tensor h = conv(norm(x, "norm1"), "conv1", 1);
  if (time.defined()) {
    const at::Tensor shift = at::linear(time, w["time_emb_proj.weight"], w["time_emb_proj.bias"]);
    h = h + shift.view({1, -1, 1, 1});
  }
  h = conv(norm(h, "norm2"), "conv2", 1);
  return h + (x.size(1) == h.size(1) ? x : conv(x, "conv_shortcut", 0));
}

}  // namespace

TEST_CASE("a residual block equals the formula: time folded, skip unjoined, shortcut accumulated") {
  at::manual_seed(10);
  const auto type = GENERATE(from_range(tests::packed_types()));
  struct Size {
    std::int64_t in, skip, out, time, map;
  };
  const auto size =
      GENERATE(Size{32, 0, 32, 24, 8}, Size{16, 0, 48, 24, 6}, Size{32, 16, 24, 24, 5},
               Size{24, 24, 16, 0, 4}, Size{16, 0, 16, 0, 16});
  RandomWeights w;
  add_resnet(w, "", size.in + size.skip, size.out, size.time);
  const at::Tensor time = size.time > 0 ? at::randn({size.time}) : at::Tensor();
  const nets::Resnet resnet(
      w.weights(),
      {.map_size = size.map, .groups = 8, .eps = 1e-5F, .skip_channels = size.skip, .time = time},
      type);
  const at::Tensor x = random_map({2, size.in, size.map, size.map}, type);
  const at::Tensor skip = random_map({2, size.skip, size.map, size.map}, type);
  const at::Tensor actual = size.skip > 0 ? resnet(x, skip) : resnet(x);
  const at::Tensor expected = plain_resnet(w, at::cat({x, skip}, 1).to(at::kDouble), 8, 1e-5,
                                           time.defined() ? time.to(at::kDouble) : time);
  CHECK(difference(actual, expected) < 4 * tolerance(type));
  CHECK(actual.is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST_CASE("fp32 convolutions of many channels round no worse than of few") {
  at::manual_seed(4);
  const auto error = [](std::int64_t channels) {
    const at::Tensor weight = at::randn({16, channels, 3, 3}), bias = at::randn({16});
    const nets::Conv conv(weight, bias, {.map_size = {24, 24}}, at::kFloat);
    const at::Tensor x = random_map({1, channels, 24, 24}, at::kFloat);
    at::Tensor sum = random_map({1, 16, 24, 24}, at::kFloat);
    const at::Tensor before = sum.clone();
    const at::Tensor expected =
        at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
    const at::Tensor plus = conv.plus(x, sum);
    conv.add_to(sum, x);
    CHECK(difference(plus, expected + before) < tolerance(at::kFloat));
    CHECK(difference(sum, expected + before) < tolerance(at::kFloat));
    const at::Tensor off = conv(x).to(at::kDouble) - expected;
    return (off.pow(2).mean().sqrt() / expected.std()).item<double>();
  };
  CHECK(error(32) < 3e-7);
  CHECK(error(250) < 3e-7);  // one chain over 192 channels: 6e-7
}

TEST_CASE("the sub-pixel convolution equals doubling and convolving, borders included") {
  at::manual_seed(11);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const std::int64_t size = GENERATE(1, 2, 4, 7, 16), in = GENERATE(16, 24), out = GENERATE(16, 40);
  const at::Tensor weight = at::randn({out, in, 3, 3}) / 15, bias = at::randn({out});
  const nets::UpConv up(weight, bias, size, type);
  const at::Tensor x = random_map({2, in, size, size}, type);
  const at::Tensor expected =
      at::conv2d(at::upsample_nearest2d(x.to(at::kDouble), {2 * size, 2 * size}),
                 weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
  CHECK(difference(up(x), expected) < 2 * tolerance(type));
}

TEST_CASE(
    "GroupNorm by the library is the library's own in channels_last, ours is nearer to double") {
  at::manual_seed(9);
  RandomWeights w;
  w.add_pair("norm", {8});
  // Means that are large beside the deviation: there a difference of means of squares is inexact.
  at::Tensor x = random_map({2, 8, 64, 64}, at::kFloat) * 0.02 + 3;
  const at::Tensor expected =
      at::silu(at::group_norm(x, 8, w.weights()("norm.weight"), w.weights()("norm.bias"), 1e-6));
  const at::Tensor exact =
      at::silu(at::group_norm(x.to(at::kDouble), 8, w["norm.weight"], w["norm.bias"], 1e-6));
  const nets::GroupNorm own(w.weights().in("norm"), 8, 1e-6F);
  const nets::GroupNorm library(w.weights().in("norm"), 8, 1e-6F, true, nets::NormKernel::library);
  CHECK(at::equal(library(x), expected));
  CHECK(difference(own(x), exact) < 0.5 * difference(library(x), exact));
  library.in_place(x);
  CHECK(at::equal(x, expected));
}

TEST_CASE("attention over slices of merged projections equals softmax in double") {
  at::manual_seed(12);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const std::int64_t heads = GENERATE(1, 2, 8), rows = GENERATE(4, 50, 300);
  const std::int64_t width = heads * 40, keys = 50;
  const at::Tensor q = at::randn({2, rows, width}).to(type);
  const at::Tensor kv = at::randn({2, keys, 3 * width}).to(type);
  const at::Tensor k = kv.narrow(2, 0, width), v = kv.narrow(2, 2 * width, width);
  const auto split = [&](const at::Tensor& x) {
    return x.to(at::kDouble).unflatten(2, {heads, 40}).transpose(1, 2);
  };
  const at::Tensor weights =
      at::softmax(at::matmul(split(q), split(k).transpose(2, 3)) / std::sqrt(40.0), -1);
  const at::Tensor expected = at::matmul(weights, split(v)).transpose(1, 2).flatten(2);
  CHECK(difference(nets::attention(q, k, v, heads), expected) < 2 * tolerance(type));
  if (heads == 1)
    CHECK(difference(nets::attention_by_products(q, k, v), expected) < 2 * tolerance(type));
}

TEST_CASE("a transformer block equals the formula with separate projections") {
  at::manual_seed(13);
  const auto type = GENERATE(from_range(tests::packed_types()));
  const std::int64_t heads = GENERATE(1, 2, 4), c = 32, context = 20, size = 6;
  RandomWeights w;
  const std::string block = "transformer_blocks.0.";
  w.add_pair("norm", {c});
  for (const char* name : {"proj_in", "proj_out"}) w.add_pair(name, {c, c, 1, 1});
  for (const char* name : {"norm1", "norm2", "norm3"}) w.add_pair(block + name, {c});
  for (const char* name : {"attn1.to_q", "attn1.to_k", "attn1.to_v", "attn2.to_q"})
    w.add(block + name + ".weight", {c, c});
  for (const char* name : {"attn2.to_k", "attn2.to_v"})
    w.add(block + name + ".weight", {c, context});
  for (const char* name : {"attn1.to_out.0", "attn2.to_out.0"}) w.add_pair(block + name, {c, c});
  w.add_pair(block + "ff.net.0.proj", {8 * c, c});
  w.add_pair(block + "ff.net.2", {c, 4 * c});
  const nets::Transformer transformer(w.weights(), heads, 8, size, type);

  const at::Tensor x = random_map({2, c, size, size}, type);
  const at::Tensor audio = at::randn({2, 10, context}).to(type);
  const auto linear = [&](const at::Tensor& h, const std::string& name, bool biased) {
    return at::linear(h, w[block + name + ".weight"],
                      biased ? w[block + name + ".bias"] : at::Tensor());
  };
  const auto attend = [&](const std::string& name, const at::Tensor& h, const at::Tensor& other) {
    const auto split = [&](const at::Tensor& t) {
      return t.unflatten(2, {heads, c / heads}).transpose(1, 2);
    };
    const at::Tensor q = split(linear(h, name + ".to_q", false));
    const at::Tensor k = split(linear(other, name + ".to_k", false));
    const at::Tensor v = split(linear(other, name + ".to_v", false));
    const double scale = std::sqrt(static_cast<double>(c / heads));
    const at::Tensor weights = at::softmax(at::matmul(q, k.transpose(2, 3)) / scale, -1);
    return linear(at::matmul(weights, v).transpose(1, 2).flatten(2), name + ".to_out.0", true);
  };
  const auto norm = [&](const at::Tensor& h, const std::string& name) {
    return at::layer_norm(h, {c}, w[block + name + ".weight"], w[block + name + ".bias"], 1e-5);
  };
  const at::Tensor input = x.to(at::kDouble), context_rows = audio.to(at::kDouble);
  at::Tensor h = at::conv2d(at::group_norm(input, 8, w["norm.weight"], w["norm.bias"], 1e-6),
                            w["proj_in.weight"], w["proj_in.bias"]);
  h = h.flatten(2).transpose(1, 2);
  h = h + attend("attn1", norm(h, "norm1"), norm(h, "norm1"));
  h = h + attend("attn2", norm(h, "norm2"), context_rows);
  const std::vector<at::Tensor> halves =
      linear(norm(h, "norm3"), "ff.net.0.proj", true).chunk(2, 2);
  h = h + linear(halves[0] * at::gelu(halves[1]), "ff.net.2", true);
  h = h.transpose(1, 2).unflatten(2, {size, size});
  const at::Tensor expected = at::conv2d(h, w["proj_out.weight"], w["proj_out.bias"]) + input;

  const at::Tensor keys = linear(context_rows, "attn2.to_k", false).to(type);
  const at::Tensor values = linear(context_rows, "attn2.to_v", false).to(type);
  CHECK(difference(transformer(x, keys, values), expected) < 6 * tolerance(type));
}

}  // namespace navtalk
