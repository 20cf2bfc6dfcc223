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

// The most taps that fit in one chain, or as few as make as many chains.
std::int64_t chained_taps(const Shape& shape) {
  const std::int64_t taps = shape.rows * shape.columns;
  const std::int64_t most = std::clamp<std::int64_t>(k_chain / shape.in, 1, taps);
  const std::int64_t chains = (taps + most - 1) / most;
  return (taps + chains - 1) / chains;
}

// The portable steps: the clearest loops, and the twin that the vector ones are tested against.
void multiply(const DirectProducts& of) {
  for (std::int64_t p = 0; p < k_pixels; ++p)
    for (std::int64_t o = 0; o < k_outputs; ++o) {
      const float* weights = of.weights + o;
      float sum = 0;
      for (std::int64_t tap = 0; tap < of.taps; ++tap)
        for (std::int64_t i = 0; i < of.depth; ++i, weights += k_outputs)
          sum += of.pixels[tap * of.pitch + p][of.first + i] * *weights;
      float& to = of.sums[p * of.stride + o];
      to = of.more ? to + sum : sum;
    }
}

void finish(const DirectResults& of, Activation activation) {
  for (std::int64_t p = 0; p < of.pixels; ++p)
    for (std::int64_t c = 0; c < of.outputs; ++c) {
      const std::int64_t at = p * of.y_stride + c;
      of.y[at] = activated(activation, of.sums[p * of.stride + c] + of.bias[c] +
                                           (of.add != nullptr ? of.add[at] : 0)) +
                 (of.after != nullptr ? of.after[at] : 0);
    }
}

// The most pixels that are made together: their sums stay in the second cache while all weights pass by once.
std::int64_t most_at_once(std::int64_t outputs) {
  constexpr std::int64_t k_sums = 65536, k_most = 20;
  return std::clamp<std::int64_t>(k_sums / outputs / k_pixels, 1, k_most) * k_pixels;
}

// The same of `pixels`, so that no few are left over, for which all weights would pass by once more.
std::int64_t pixels_at_once(std::int64_t pixels, std::int64_t outputs) {
  const std::int64_t most = most_at_once(outputs), blocks = (pixels + most - 1) / most;
  return rounded_up((pixels + blocks - 1) / blocks, k_pixels);
}

const DirectSteps& steps_of(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return avx512_direct_steps();
    case Isa::avx2:
      return avx2_direct_steps();
    case Isa::portable:
      break;
  }
  return portable_direct_steps();
}

// What one thread needs while it goes through the pixels of the result, which are counted row by row and image by image.
class Pixels {
 public:
  // Of output channels [from, to), which are multiples of k_outputs, and pixels [begin, end), at least one of them.
  Pixels(const DirectConv& conv, const DirectMaps& maps, std::int64_t from, std::int64_t to,
         std::int64_t begin, std::int64_t end, Isa isa)
      : conv_(conv),
        maps_(maps),
        steps_(steps_of(isa)),
        from_(from),
        to_(to),
        begin_(begin),
        end_(end),
        room_(pixels_at_once(end - begin, to - from)),
        zeros_(static_cast<std::size_t>(conv.shape.in)),
        tables_{std::vector<const float*>(static_cast<std::size_t>(conv.taps_at_once * room_)),
                std::vector<const float*>(static_cast<std::size_t>(conv.taps_at_once * room_))},
        sums_(scratch<float, 1>(static_cast<std::size_t>(room_ * (to - from)))) {}

  void run() {
    Pass pass = started({.inputs = &tables_[1]}, begin_, 0);
    while (pass.pixels > 0) {
      const Pass next = following(pass);
      go_through(pass, next);
      pass = next;
    }
  }

 private:
  // Channels [first, first + depth) of some pixels under some taps: one chain of each sum.
  struct Pass {
    std::int64_t begin = 0, pixels = 0;
    std::int64_t tap = 0, taps = 0, first = 0, depth = 0;
    std::vector<const float*>* inputs = nullptr;  // [taps][room_]
  };

  // Pixels from `begin` on under the taps from `tap` on, whose inputs go where those of `before` are not.
  Pass started(const Pass& before, std::int64_t begin, std::int64_t tap) {
    const Shape& shape = conv_.shape;
    Pass pass{.begin = begin,
              .pixels = std::min(room_, end_ - begin),
              .tap = tap,
              .taps = std::min(conv_.taps_at_once, shape.rows * shape.columns - tap),
              .depth = std::min(k_chain, shape.in),
              .inputs = before.inputs == tables_.data() ? &tables_[1] : tables_.data()};
    for (std::int64_t i = 0; i < pass.taps && pass.pixels > 0; ++i) find_inputs(pass, i);
    return pass;
  }

  // Of no pixels after the last one.
  Pass following(const Pass& pass) {
    const std::int64_t in = conv_.shape.in, tap = pass.tap + pass.taps;
    if (pass.first + pass.depth < in) {
      Pass next = pass;
      next.first += pass.depth;
      next.depth = std::min(k_chain, in - next.first);
      return next;
    }
    if (tap < conv_.shape.rows * conv_.shape.columns) return started(pass, pass.begin, tap);
    return started(pass, pass.begin + room_, 0);
  }

  // Where each pixel's input under one tap is; zeros beyond the map and for those that fill the last group.
  void find_inputs(const Pass& pass, std::int64_t i) {
    const Shape& shape = conv_.shape;
    const std::int64_t down = shape.rows_for(maps_.height), across = shape.columns_for(maps_.width);
    const std::int64_t up = (pass.tap + i) / shape.columns - shape.row_padding;
    const std::int64_t left = (pass.tap + i) % shape.columns - shape.column_padding;
    const float** inputs = pass.inputs->data() + i * room_;
    std::fill_n(inputs, room_, zeros_.data());
    std::int64_t line = pass.begin / across, column = pass.begin % across;
    for (std::int64_t left_over = pass.pixels; left_over > 0; ++line, column = 0) {
      const std::int64_t count = std::min(left_over, across - column);
      const std::int64_t y = line % down * shape.stride + up;
      const float* row = maps_.x + (line / down * maps_.height + y) * maps_.width * shape.in;
      for (std::int64_t c = 0; c < count && y >= 0 && y < maps_.height; ++c) {
        const std::int64_t x = (column + c) * shape.stride + left;
        if (x >= 0 && x < maps_.width) inputs[c] = row + x * shape.in;
      }
      inputs += count;
      left_over -= count;
    }
  }

  // While it multiplies it fetches what comes next into the second cache: the next weights, and the inputs of the next pass.
  void go_through(const Pass& pass, const Pass& next) {
    const std::int64_t blocks = (pass.pixels + k_pixels - 1) / k_pixels;
    const std::int64_t tile =
        pass.taps * pass.depth * k_outputs;  // weights of one group of outputs
    const std::int64_t before = pass.tap * conv_.shape.in + pass.taps * pass.first;
    const bool last =
        before + pass.taps * pass.depth == conv_.shape.rows * conv_.shape.columns * conv_.shape.in;
    const bool only = last && before == 0;
    const std::int64_t at_once = std::min(steps_.groups_at_once * k_outputs, to_ - from_);
    const std::int64_t calls = blocks * ((to_ - from_ + at_once - 1) / at_once);
    DirectProducts products{.pitch = room_,
                            .taps = pass.taps,
                            .first = pass.first,
                            .depth = pass.depth,
                            .stride = only ? at_once : to_ - from_,
                            .more = before > 0,
                            .next_first = next.first,
                            .next_depth = next.depth};
    Share share{.all = next.pixels > 0 ? next.taps * room_ : 0, .calls = calls};
    for (std::int64_t o = from_; o < to_; o += at_once) {
      products.groups = std::min(at_once, to_ - o) / k_outputs;
      products.weights = conv_.weights.data() + before * conv_.width + o / k_outputs * tile;
      products.soon_weights = rounded_up(products.groups * tile / blocks, k_outputs);
      for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t p = block * k_pixels;
        products.pixels = pass.inputs->data() + p;
        products.soon = products.weights + products.groups * tile + block * products.soon_weights;
        products.next = next.inputs->data() + share.done;
        products.next_count = share.take();
        products.sums = only ? near_ : sums_ + p * (to_ - from_) + o - from_;
        steps_.multiply(products);
        if (!last) continue;
        for (std::int64_t group = 0; group < products.groups; ++group)
          finish(products, group, pass.begin + p, std::min(k_pixels, pass.pixels - p), o);
      }
    }
  }

  // Divides `all` among calls.
  struct Share {
    std::int64_t all = 0, calls = 1, done = 0, call = 0;
    std::int64_t take() {
      const std::int64_t until = ++call * all / calls, count = until - done;
      done = until;
      return count;
    }
  };

  // The results of one group of those products, which are from `pixel` and channel `first` on.
  void finish(const DirectProducts& products, std::int64_t group, std::int64_t pixel,
              std::int64_t pixels, std::int64_t first) const {
    const std::int64_t out = conv_.shape.out, o = first + group * k_outputs;
    const std::int64_t at = pixel * out + o;
    steps_.finish({.sums = products.sums + group * k_outputs,
                   .stride = products.stride,
                   .bias = conv_.bias.data() + o,
                   .add = maps_.add != nullptr ? maps_.add + at : nullptr,
                   .after = maps_.after != nullptr ? maps_.after + at : nullptr,
                   .y = maps_.y + at,
                   .y_stride = out,
                   .pixels = pixels,
                   .outputs = std::min(k_outputs, out - o)},
                  conv_.activation);
  }

  const DirectConv& conv_;
  const DirectMaps& maps_;
  const DirectSteps& steps_;
  std::int64_t from_, to_, begin_, end_;
  std::int64_t room_;  // a multiple of k_pixels
  std::vector<float> zeros_;
  std::array<std::vector<const float*>, 2> tables_;  // the inputs of a pass and of the next one
  float* sums_;                                      // [room_][to_ - from_], of several passes
  float near_[k_pixels * 2 * k_outputs] = {};        // of one pass that makes the whole sum
};

// Output channels [from, to) of pixels [begin, end). Of many channels some at a time, for whose sums of many pixels there is room.
void convolve(const DirectConv& conv, const DirectMaps& maps, std::int64_t from, std::int64_t to,
              std::int64_t begin, std::int64_t end, Isa isa) {
  constexpr std::int64_t k_most = 512;
  for (; from < to; from += k_most)
    Pixels(conv, maps, from, std::min(from + k_most, to), begin, end, isa).run();
}

}  // namespace

const DirectSteps& portable_direct_steps() {
  static constexpr DirectSteps k_steps{1, multiply, finish};
  return k_steps;
}

DirectConv::DirectConv(const Shape& of, const float* weight, const float* of_bias, Activation after)
    : shape(of),
      activation(after),
      width(rounded_up(of.out, k_outputs)),
      taps_at_once(chained_taps(of)),
      weights(static_cast<std::size_t>(of.rows * of.columns * of.in * width)),
      bias(static_cast<std::size_t>(width)) {
  if (of_bias != nullptr) std::copy_n(of_bias, of.out, bias.begin());
  const std::int64_t taps = of.rows * of.columns;
  parallel_for(taps * of.in, of.out, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t tap = line / of.in, i = line % of.in;
      const std::int64_t first_tap = tap / taps_at_once * taps_at_once;
      const std::int64_t first = i / k_chain * k_chain, depth = std::min(k_chain, of.in - first);
      const std::int64_t together = std::min(taps_at_once, taps - first_tap);
      float* const to = weights.data() + (first_tap * of.in + together * first) * width +
                        ((tap - first_tap) * depth + i - first) * k_outputs;
      for (std::int64_t o = 0; o < of.out; ++o)
        to[o / k_outputs * k_outputs * together * depth + o % k_outputs] =
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
  if (pixels <= 2 * most_at_once(conv.width) && conv.width >= 16 * k_outputs &&
      depth * conv.width > 128 * 128) {
    parallel_for(conv.width / k_outputs, pixels * depth, [&](std::int64_t begin, std::int64_t end) {
      convolve(conv, maps, begin * k_outputs, end * k_outputs, 0, pixels, isa);
    });
    return;
  }
  // Whole groups of pixels for each thread.
  const std::int64_t groups = (pixels + k_pixels - 1) / k_pixels;
  parallel_for(groups, work, [&](std::int64_t begin, std::int64_t end) {
    convolve(conv, maps, 0, conv.width, begin * k_pixels, std::min(end * k_pixels, pixels), isa);
  });
}

}  // namespace navtalk::kernels
