#include "gpu/kernels/conv/direct_conv.h"

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/kernels/conv/direct_steps.h"
#include "gpu/kernels/parallel.h"
#include "gpu/kernels/scratch.h"

namespace navtalk::kernels {
namespace {

using Shape = DirectConv::Shape;

std::int64_t rounded_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

// The portable steps: the clearest loops, and the twin that the vector ones are tested against.
void multiply(const float* const* pixels, const float* weights, std::int64_t depth, float* sums,
              std::int64_t stride, bool more) {
  for (std::int64_t p = 0; p < k_pixels; ++p)
    for (std::int64_t o = 0; o < k_outputs; ++o) {
      float sum = 0;
      for (std::int64_t i = 0; i < depth; ++i) sum += pixels[p][i] * weights[i * k_outputs + o];
      float& to = sums[p * stride + o];
      to = more ? to + sum : sum;
    }
}

void finish(const float* sums, const float* bias, const float* add, float* y, std::int64_t count,
            Activation activation) {
  for (std::int64_t c = 0; c < count; ++c)
    y[c] = activated(activation, sums[c] + bias[c] + (add != nullptr ? add[c] : 0));
}

// Pixels that are made together: their sums stay in the second cache while all weights pass by once.
std::int64_t pixels_at_once(std::int64_t outputs) {
  constexpr std::int64_t k_sums = 65536, k_most = 16;
  return std::clamp<std::int64_t>(k_sums / outputs / k_pixels, 1, k_most) * k_pixels;
}

// What one thread needs while it goes through the pixels of the result, which are counted row by row and image by image.
class Pixels {
 public:
  // Of output channels [from, to), which are multiples of k_outputs.
  Pixels(const DirectConv& conv, const DirectMaps& maps, std::int64_t from, std::int64_t to,
         Isa isa)
      : conv_(conv),
        maps_(maps),
        steps_(isa == Isa::portable ? portable_direct_steps() : avx2_direct_steps()),
        from_(from),
        to_(to),
        room_(pixels_at_once(to - from)),
        zeros_(static_cast<std::size_t>(conv.shape.in)),
        inputs_(static_cast<std::size_t>(room_)),
        sums_(scratch<float, 1>(static_cast<std::size_t>(room_ * (to - from)))) {}

  // Pixels [begin, end).
  void run(std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += room_) {
      const std::int64_t count = std::min(room_, end - begin);
      for (std::int64_t tap = 0; tap < conv_.shape.rows * conv_.shape.columns; ++tap) {
        find_inputs(begin, count, tap);
        multiply(count, tap);
      }
      for (std::int64_t p = 0; p < count; ++p) finish(p, (begin + p) * conv_.shape.out + from_);
    }
  }

 private:
  // Where each pixel's input under that tap is; zeros beyond the map and for those that fill the last group.
  void find_inputs(std::int64_t begin, std::int64_t count, std::int64_t tap) {
    const Shape& shape = conv_.shape;
    const std::int64_t down = shape.rows_for(maps_.height), across = shape.columns_for(maps_.width);
    std::fill(inputs_.begin(), inputs_.end(), zeros_.data());
    for (std::int64_t p = 0; p < count; ++p) {
      const std::int64_t pixel = begin + p, line = pixel / across;
      const std::int64_t y = line % down * shape.stride - shape.row_padding + tap / shape.columns;
      const std::int64_t x =
          pixel % across * shape.stride - shape.column_padding + tap % shape.columns;
      if (y < 0 || y >= maps_.height || x < 0 || x >= maps_.width) continue;
      const std::int64_t from = (line / down * maps_.height + y) * maps_.width + x;
      inputs_[static_cast<std::size_t>(p)] = maps_.x + from * shape.in;
    }
  }

  void multiply(std::int64_t count, std::int64_t tap) {
    const std::int64_t in = conv_.shape.in;
    for (std::int64_t first = 0; first < in; first += k_chain) {
      const std::int64_t depth = std::min(k_chain, in - first);
      const float* weights = conv_.weights.data() + (tap * in + first) * conv_.width;
      for (std::int64_t o = from_; o < to_; o += k_outputs)
        for (std::int64_t p = 0; p < count; p += k_pixels) {
          std::array<const float*, k_pixels> pixels{};
          for (std::size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = inputs_[static_cast<std::size_t>(p) + i] + first;
          steps_.multiply(pixels.data(), weights + o * depth, depth,
                          sums_ + p * (to_ - from_) + o - from_, to_ - from_, tap > 0 || first > 0);
        }
    }
  }

  // `at`: where the result has the pixel.
  void finish(std::int64_t pixel, std::int64_t at) const {
    steps_.finish(sums_ + pixel * (to_ - from_), conv_.bias.data() + from_,
                  maps_.add != nullptr ? maps_.add + at : nullptr, maps_.y + at,
                  std::min(to_, conv_.shape.out) - from_, conv_.activation);
  }

  const DirectConv& conv_;
  const DirectMaps& maps_;
  const DirectSteps& steps_;
  std::int64_t from_, to_;
  std::int64_t room_;  // a multiple of k_pixels
  std::vector<float> zeros_;
  std::vector<const float*> inputs_;
  float* sums_;  // [room_][to_ - from_]
};

}  // namespace

const DirectSteps& portable_direct_steps() {
  static constexpr DirectSteps k_steps{multiply, finish};
  return k_steps;
}

DirectConv::DirectConv(const Shape& of, const float* weight, const float* of_bias, Activation after)
    : shape(of),
      activation(after),
      width(rounded_up(of.out, k_outputs)),
      weights(static_cast<std::size_t>(of.rows * of.columns * of.in * width)),
      bias(static_cast<std::size_t>(width)) {
  if (of_bias != nullptr) std::copy_n(of_bias, of.out, bias.begin());
  const std::int64_t taps = of.rows * of.columns;
  parallel_for(taps * of.in, of.out, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t tap = line / of.in, i = line % of.in, first = i / k_chain * k_chain;
      const std::int64_t depth = std::min(k_chain, of.in - first);
      float* const to = weights.data() + (tap * of.in + first) * width + (i - first) * k_outputs;
      for (std::int64_t o = 0; o < of.out; ++o)
        to[o / k_outputs * k_outputs * depth + o % k_outputs] =
            weight[(o * of.in + i) * taps + tap];
    }
  });
}

void direct_conv(const DirectConv& conv, const DirectMaps& maps, Isa isa) {
  const std::int64_t pixels =
      maps.images * conv.shape.rows_for(maps.height) * conv.shape.columns_for(maps.width);
  const std::int64_t depth = conv.shape.rows * conv.shape.columns * conv.shape.in;
  const std::int64_t work = k_pixels * depth;
  // Of few pixels and many weights threads divide the weights, so that each reads its part only.
  if (pixels <= 2 * pixels_at_once(conv.width) && conv.width >= 16 * k_outputs &&
      depth * conv.width > 128 * 128) {
    parallel_for(conv.width / k_outputs, pixels * depth, [&](std::int64_t begin, std::int64_t end) {
      Pixels(conv, maps, begin * k_outputs, end * k_outputs, isa).run(0, pixels);
    });
    return;
  }
  // Whole groups of pixels for each thread.
  const std::int64_t groups = (pixels + k_pixels - 1) / k_pixels;
  parallel_for(groups, work, [&](std::int64_t begin, std::int64_t end) {
    Pixels(conv, maps, 0, conv.width, isa).run(begin * k_pixels, std::min(end * k_pixels, pixels));
  });
}

}  // namespace navtalk::kernels
