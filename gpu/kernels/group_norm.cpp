#include "gpu/kernels/group_norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "gpu/kernels/bf16.h"
#include "gpu/kernels/parallel.h"
#include "gpu/kernels/rows.h"

namespace navtalk::kernels {
namespace {

constexpr std::int64_t k_run = 512;  // pixels whose sums one call of a row kernel takes

struct Map {
  const std::byte* data;
  std::int64_t channels;
};

const std::byte* pixel(const Map& map, std::int64_t index, Format format) {
  return map.data + index * map.channels * item_size(format);
}

float first_value(const Map& map, std::int64_t index, std::int64_t c, Format format) {
  const std::byte* p = pixel(map, index, format);
  return format == Format::fp32 ? reinterpret_cast<const float*>(p)[c]
                                : to_float(reinterpret_cast<const std::uint16_t*>(p)[c]);
}

// Sums of one image's map around a pivot per channel. Narrow maps are read as wider ones with
// several pixels in a row, so that a run of pixels fills whole vectors.
class Moments {
 public:
  Moments(const Map& map, std::int64_t first_pixel, std::int64_t pixels, Format format)
      : map_(map), first_(first_pixel), pixels_(pixels), format_(format) {
    while (map.channels * fold_ < 64 && pixels % (fold_ * 2) == 0) fold_ *= 2;
    width_ = map.channels * fold_;
    const std::int64_t rows = pixels / fold_;
    run_rows_ = std::max<std::int64_t>(1, k_run / fold_);
    runs_ = (rows + run_rows_ - 1) / run_rows_;
    pivot_.resize(static_cast<std::size_t>(width_));
    for (std::int64_t i = 0; i < width_; ++i)
      pivot_[static_cast<std::size_t>(i)] = first_value(map, first_pixel, i % map.channels, format);
    sums_.resize(static_cast<std::size_t>(2 * width_ * runs_));
  }

  void collect(const RowKernels& kernels) {
    const std::int64_t rows = pixels_ / fold_;
    parallel_for(runs_, run_rows_ * width_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t run = begin; run < end; ++run) {
        double* sum = sums_.data() + run * 2 * width_;
        const std::int64_t row = run * run_rows_;
        kernels.moments(pixel(map_, first_ + row * fold_, format_), std::min(run_rows_, rows - row),
                        width_, width_, pivot_.data(), sum, sum + width_);
      }
    });
  }

  // Mean and sum of squared differences from it of channel c.
  void channel(std::int64_t c, double& mean, double& squares) const {
    double s = 0, q = 0;
    for (std::int64_t run = 0; run < runs_; ++run)
      for (std::int64_t i = c; i < width_; i += map_.channels) {
        const double* sum = sums_.data() + run * 2 * width_;
        s += sum[i];
        q += sum[width_ + i];
      }
    const auto n = static_cast<double>(pixels_);
    mean = static_cast<double>(pivot_[static_cast<std::size_t>(c)]) + s / n;
    squares = q - s * s / n;
  }

 private:
  Map map_;
  std::int64_t first_, pixels_, fold_ = 1, width_ = 0, run_rows_ = 1, runs_ = 0;
  Format format_;
  std::vector<float> pivot_;
  std::vector<double> sums_;
};

// The whole normalisation of one image as y = x * scale[c] + shift[c].
struct Affine {
  std::vector<float> scale, shift;
};

Affine affine(const GroupNorm& norm, std::int64_t image, const RowKernels& kernels) {
  const std::int64_t total = norm.channels + norm.skip_channels, first = image * norm.pixels;
  const Map x{static_cast<const std::byte*>(norm.x), norm.channels};
  const Map skip{static_cast<const std::byte*>(norm.skip), norm.skip_channels};
  std::vector<double> mean(static_cast<std::size_t>(total)), squares(mean.size());
  Moments moments(x, first, norm.pixels, norm.format);
  moments.collect(kernels);
  for (std::int64_t c = 0; c < norm.channels; ++c) {
    const auto at = static_cast<std::size_t>(c);
    moments.channel(c, mean[at], squares[at]);
  }
  if (norm.skip_channels > 0) {
    Moments more(skip, first, norm.pixels, norm.format);
    more.collect(kernels);
    for (std::int64_t c = 0; c < norm.skip_channels; ++c) {
      const auto at = static_cast<std::size_t>(norm.channels + c);
      more.channel(c, mean[at], squares[at]);
    }
  }

  Affine result{std::vector<float>(mean.size()), std::vector<float>(mean.size())};
  const std::size_t size = mean.size() / static_cast<std::size_t>(norm.groups);
  const auto n = static_cast<double>(norm.pixels);
  for (std::size_t group = 0; group < mean.size(); group += size) {
    double m = 0, variance = 0;
    for (std::size_t c = group; c < group + size; ++c) m += mean[c];
    m /= static_cast<double>(size);
    for (std::size_t c = group; c < group + size; ++c)
      variance += squares[c] / n + (mean[c] - m) * (mean[c] - m);
    variance /= static_cast<double>(size);
    const double inverse = 1.0 / std::sqrt(variance + static_cast<double>(norm.eps));
    for (std::size_t c = group; c < group + size; ++c) {
      const double scale = inverse * static_cast<double>(norm.gamma[c]);
      result.scale[c] = static_cast<float>(scale);
      result.shift[c] = static_cast<float>(static_cast<double>(norm.beta[c]) - m * scale);
    }
  }
  return result;
}

void apply(const GroupNorm& norm, std::int64_t image, const Affine& affine,
           const RowKernels& kernels) {
  const std::int64_t total = norm.channels + norm.skip_channels, item = item_size(norm.format);
  const Map x{static_cast<const std::byte*>(norm.x), norm.channels};
  const Map skip{static_cast<const std::byte*>(norm.skip), norm.skip_channels};
  auto* y = static_cast<std::byte*>(norm.y);
  parallel_for(norm.pixels, total, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t at = image * norm.pixels + begin, rows = end - begin;
    std::byte* out = y + at * total * item;
    kernels.scale_shift(pixel(x, at, norm.format), norm.channels, out, total, rows, norm.channels,
                        affine.scale.data(), affine.shift.data(), norm.silu);
    if (norm.skip_channels > 0)
      kernels.scale_shift(pixel(skip, at, norm.format), norm.skip_channels,
                          out + norm.channels * item, total, rows, norm.skip_channels,
                          affine.scale.data() + norm.channels, affine.shift.data() + norm.channels,
                          norm.silu);
  });
}

}  // namespace

void group_norm(const GroupNorm& norm, Isa isa) {
  const RowKernels& kernels = row_kernels(isa, norm.format);
  for (std::int64_t image = 0; image < norm.images; ++image)
    apply(norm, image, affine(norm, image, kernels), kernels);
}

void group_norm_affine(const GroupNorm& norm, float* scale, float* shift, Isa isa) {
  const RowKernels& kernels = row_kernels(isa, norm.format);
  for (std::int64_t image = 0; image < norm.images; ++image) {
    const Affine one = affine(norm, image, kernels);
    scale = std::copy(one.scale.begin(), one.scale.end(), scale);
    shift = std::copy(one.shift.begin(), one.shift.end(), shift);
  }
}

}  // namespace navtalk::kernels
