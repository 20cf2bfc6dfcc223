// The layers that the nets are built of. Maps are [N,C,H,W] tensors in channels_last memory, tokens
// are [N,L,C]. Weights are packed for oneDNN when a layer is made; the layers are immutable after
// that. `type` is what a layer computes in: float or bfloat16, with fp32 accumulation.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>
#include <vector>

#include "gpu/kernels/conv/output_conv.h"
#include "gpu/kernels/conv/winograd_conv.h"
#include "gpu/kernels/group_norm.h"
#include "gpu/kernels/isa.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

kernels::Format format_of(const at::Tensor& x);

// Who computes a 3x3 convolution: oneDNN, or tiles (gpu/kernels/conv/winograd_conv.h) where they
// are faster, which is bf16 on AVX-512 with 16 to 64 channels. Tiles round a little more than
// oneDNN does.
enum class ConvKernel : std::uint8_t { library, tiles };

class Conv {
 public:
  struct Geometry {
    std::int64_t stride = 1;
    std::array<std::int64_t, 2> padding{1, 1};     // rows, columns
    std::array<std::int64_t, 2> map_size{32, 32};  // of the input: a hint for the packing
  };
  Conv(const at::Tensor& weight, const at::Tensor& bias, const Geometry& geometry,
       at::ScalarType type);

  at::Tensor operator()(const at::Tensor& x) const;
  // conv(x) + other, in one pass.
  at::Tensor plus(const at::Tensor& x, const at::Tensor& other) const;
  // sum += conv(x).
  void add_to(at::Tensor& sum, const at::Tensor& x) const;

 private:
  // fp32 sums over many input channels are made of shorter ones, a part of the channels each: one
  // long chain of additions loses several times as much as the reference's kernels do.
  struct Part {
    at::Tensor weight;
    std::int64_t first_channel = 0, channels = 0;
  };
  at::Tensor input_of(const Part& part, const at::Tensor& x) const;
  void add_part(std::size_t i, at::Tensor& sum, const at::Tensor& x) const;

  std::vector<Part> parts_;
  at::Tensor bias_;  // the first part adds it
  std::array<std::int64_t, 2> stride_, padding_;
};

// Nearest-neighbour doubling followed by a 3x3 convolution, as one 2x2 convolution on the small map
// that makes all four phases of the large one: 4/9 of the multiplications, the same sum.
class UpConv {
 public:
  UpConv(const at::Tensor& weight, const at::Tensor& bias, std::int64_t map_size,
         at::ScalarType type, ConvKernel kernel = ConvKernel::library);
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  std::int64_t channels_;
  std::optional<Conv> phases_;
  std::optional<kernels::TileConv> tiles_;  // instead of phases_
};

class Linear {
 public:
  // `bias` may be undefined. `rows` is a hint for the packing.
  Linear(const at::Tensor& weight, const at::Tensor& bias, std::int64_t rows, at::ScalarType type);
  at::Tensor operator()(const at::Tensor& x) const;                     // [..., in]
  at::Tensor plus(const at::Tensor& x, const at::Tensor& other) const;  // linear(x) + other

 private:
  at::Tensor weight_, bias_;
};

// Whose GroupNorm: our own, or libtorch's for maps in channels_last, whose variance, a difference
// of means of squares, is up to some 1e-4 off. The second one is for comparisons only.
enum class NormKernel : std::uint8_t { own, library };

// GroupNorm, then SiLU unless told otherwise.
class GroupNorm {
 public:
  GroupNorm(const Weights& weights, std::int64_t groups, float eps, bool silu = true,
            NormKernel kernel = NormKernel::own);
  at::Tensor operator()(const at::Tensor& x) const;
  // Of the concatenation of two maps on the channel axis.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& skip) const;
  // Overwrites x.
  void in_place(at::Tensor& x) const;
  // What it does to x before SiLU, as a factor and a summand for each image and channel.
  struct Affine {
    std::vector<float> scale, shift;  // [N,C]
  };
  Affine affine(const at::Tensor& x) const;

 private:
  kernels::GroupNorm task(const at::Tensor& x, const at::Tensor* skip) const;
  void run(const at::Tensor& x, const at::Tensor* skip, at::Tensor& y) const;
  at::Tensor by_library(const at::Tensor& x) const;
  at::Tensor gamma_, beta_;
  std::int64_t groups_;
  float eps_;
  bool silu_;
  NormKernel kernel_;
};

// GroupNorm, SiLU and a 3x3 convolution: with tiles the three are one pass over the map.
class NormConv {
 public:
  struct Options {
    std::int64_t map_size = 32, groups = 32;
    float eps = 1e-5F;
    NormKernel norm = NormKernel::own;
    ConvKernel conv = ConvKernel::library;
  };
  NormConv(const Weights& norm, const at::Tensor& weight, const at::Tensor& bias,
           const Options& options, at::ScalarType type);

  at::Tensor operator()(const at::Tensor& x) const;
  // Of the concatenation of two maps on the channel axis.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& skip) const;
  // These may overwrite x.
  at::Tensor consume(at::Tensor x) const;
  at::Tensor plus(at::Tensor x, const at::Tensor& other) const;  // other + this(x)
  void add_to(at::Tensor& sum, at::Tensor x) const;              // sum += this(x)

 private:
  void by_tiles(const at::Tensor& x, const at::Tensor* add, at::Tensor& y) const;
  at::Tensor result_for(const at::Tensor& x) const;
  GroupNorm norm_;
  std::optional<Conv> conv_;
  std::optional<kernels::TileConv> tiles_;  // instead of conv_
};

// The decoder's last norm, SiLU and 3x3 convolution, to three channels.
class Picture {
 public:
  Picture(const Weights& norm, const at::Tensor& weight, const at::Tensor& bias,
          const NormConv::Options& options, at::ScalarType type);
  // May overwrite x. [N,3,H,W] in fp32 or the net's type, with room between the pixels.
  at::Tensor operator()(at::Tensor x) const;

 private:
  GroupNorm norm_;
  std::optional<Conv> conv_;
  std::optional<kernels::PictureConv> picture_;  // instead of conv_
};

class LayerNorm {
 public:
  explicit LayerNorm(const Weights& weights);
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  at::Tensor gamma_, beta_;
};

at::Tensor gelu_of(const at::Tensor& x);
at::Tensor geglu_of(const at::Tensor& x);  // [N,L,2C] -> [N,L,C]

// Attention over heads: q [N,L,C], k and v [N,M,C], each possibly a slice of a wider tensor, to
// [N,L,C].
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     std::int64_t heads);

// A map as tokens in row-major order, and back; neither copies.
at::Tensor to_tokens(const at::Tensor& map);
at::Tensor to_map(const at::Tensor& tokens, std::int64_t height, std::int64_t width);

}  // namespace navtalk::nets
