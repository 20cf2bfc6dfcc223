#include "avatars/faces/face_smoothing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <opencv2/core.hpp>

#include "avatars/faces/face_track.h"

namespace navtalk {
namespace {

constexpr double k_bridge_s = 0.4;

// The widest Gaussian, in seconds.
constexpr double k_centre_sigma_s = 0.12, k_size_sigma_s = 0.6;
// In frames: the narrowest Gaussian, and how much wider each is than the one before.
constexpr double k_least_sigma = 0.8, k_wider = 1.4;

// Jitter is told from movement by differences of this order: a swing of 3 Hz at 25 fps leaves a sixth of its amplitude in them, jitter its
// thirtyfold. They are counted as far as `k_jitter_reach_s` to each side.
constexpr std::size_t k_order = 6;
constexpr double k_jitter_gain =
    30.397;  // square root of the sum of their squared coefficients, 924
constexpr double k_jitter_reach_s = 0.8;
constexpr double k_sigma_of_median =
    1.4826;  // of a normal distribution, over the median of absolute values

// A fit is trusted to so many times the jitter that is left in it, and to so much of the face's size.
constexpr double k_trust = 1.5, k_unnoticed = 0.0025;
// How far, in frames, a narrow Gaussian spreads, so that the width changes gradually.
constexpr std::size_t k_spread = 2;

// Up to `k_longest_wrong` values in a row are wrong if the `k_witnesses` before and behind them lie on one parabola, to within so many
// times the jitter or so much of the face's size, and the first and the last are off it: by so many times the jitter, by so much of the
// face's size, and by more than it moves in a frame.
constexpr std::size_t k_longest_wrong = 5, k_witnesses = 4, k_least_witnesses = 3;
constexpr double k_agree = 3, k_least_agree = 0.01, k_wrong = 4, k_least_wrong = 0.05;

using Series = std::vector<double>;

double median(Series values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The entries of `values` at most `reach` from i.
std::pair<std::size_t, std::size_t> window(const Series& values, std::size_t i, std::size_t reach) {
  return {i - std::min(i, reach), std::min(values.size(), i + reach + 1)};
}

double between(std::size_t from, std::size_t to) {
  return static_cast<double>(to) - static_cast<double>(from);
}

// Standard deviation of the detections' jitter around each frame, in pixels. `values`: more than k_order.
Series jitter_of(const Series& values, const FrameRate& fps) {
  Series differences = values;
  for (std::size_t order = 0; order < k_order; ++order) {
    for (std::size_t i = 0; i + 1 < differences.size(); ++i)
      differences[i] = differences[i + 1] - differences[i];
    differences.pop_back();
  }
  for (double& difference : differences) difference = std::abs(difference);
  const auto reach = static_cast<std::size_t>(std::lround(k_jitter_reach_s * fps.hz()));
  Series result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    // The ends have as many differences as the middle.
    const std::size_t count = std::min(2 * reach + 1, differences.size());
    const std::size_t wanted = i - std::min(i, k_order / 2 + reach);
    const auto begin = differences.begin() +
                       static_cast<std::ptrdiff_t>(std::min(wanted, differences.size() - count));
    result[i] = k_sigma_of_median / k_jitter_gain *
                median(Series(begin, begin + static_cast<std::ptrdiff_t>(count)));
  }
  return result;
}

// Sums over points, of which a parabola is fitted.
class Parabola {
 public:
  void add(double t, double value, double weight = 1) {
    const cv::Vec3d powers(1, t, t * t);
    sums_ += weight * powers * powers.t();
    values_ += weight * value * powers;
  }
  void fit() {
    inverse_ = sums_.inv();
    coefficients_ = inverse_ * values_;
  }
  double at(double t) const { return coefficients_.dot(cv::Vec3d(1, t, t * t)); }
  // What the fit at 0 takes of a value at t.
  double share(double t, double weight) const {
    return weight * (inverse_(0, 0) + inverse_(0, 1) * t + inverse_(0, 2) * t * t);
  }

 private:
  cv::Matx33d sums_ = cv::Matx33d::zeros(), inverse_;
  cv::Vec3d values_, coefficients_;
};

// Whether values[i..i+run-1] are wrong; then they are put right.
bool put_right(Series& values, std::size_t i, std::size_t run, double jitter, double size) {
  const std::size_t begin = i - std::min(i, k_witnesses);
  const std::size_t end = std::min(values.size(), i + run + k_witnesses);
  Parabola path;
  for (std::size_t j = begin; j < end; ++j) {
    if (j < i || j >= i + run) path.add(between(i, j), values[j]);
  }
  path.fit();
  double limit = std::max(k_wrong * jitter, k_least_wrong * size);
  const double agreed = std::max(k_agree * jitter, k_least_agree * size);
  for (std::size_t j = begin; j < end; ++j) {
    const double here = path.at(between(i, j));
    if ((j < i || j >= i + run) && std::abs(values[j] - here) > agreed) return false;
    if (j > begin) limit = std::max(limit, std::abs(here - path.at(between(i, j - 1))));
  }
  for (const std::size_t j : {i, i + run - 1}) {
    if (std::abs(values[j] - path.at(between(i, j))) <= limit) return false;
  }
  for (std::size_t j = i; j < i + run; ++j) values[j] = path.at(between(i, j));
  return true;
}

Series without_wrong(Series values, const Series& sizes, const FrameRate& fps) {
  const Series jitter = jitter_of(values, fps);
  for (std::size_t i = k_least_witnesses; i < values.size(); ++i) {
    for (std::size_t run = 1;
         run <= k_longest_wrong && i + run + k_least_witnesses <= values.size(); ++run) {
      if (!put_right(values, i, run, jitter[i], sizes[i])) continue;
      i += run - 1;
      break;
    }
  }
  return values;
}

// Of parabolas through the values around each, weighted by a Gaussian.
struct Fit {
  Series values;
  Series remains;  // of the jitter, as a factor
};

Fit fit_of(const Series& values, double sigma) {
  const auto reach = static_cast<std::size_t>(std::ceil(3 * sigma));
  const auto weight_at = [&](double t) { return std::exp(-0.5 * t * t / (sigma * sigma)); };
  Fit fit{Series(values.size()), Series(values.size())};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [begin, end] = window(values, i, reach);
    Parabola parabola;
    for (std::size_t j = begin; j < end; ++j) {
      const double t = between(i, j);
      parabola.add(t, values[j], weight_at(t));
    }
    parabola.fit();
    fit.values[i] = parabola.at(0);
    double squares = 0;
    for (std::size_t j = begin; j < end; ++j) {
      const double share = parabola.share(between(i, j), weight_at(between(i, j)));
      squares += share * share;
    }
    fit.remains[i] = std::sqrt(squares);
  }
  return fit;
}

// From the values themselves to the widest Gaussian.
std::vector<Fit> fits_of(const Series& values, double widest) {
  std::vector<Fit> fits{{values, Series(values.size(), 1.0)}};
  for (double sigma = k_least_sigma; sigma < widest; sigma *= k_wider)
    fits.push_back(fit_of(values, sigma));
  fits.push_back(fit_of(values, widest));
  return fits;
}

// The last of `fits` that does not contradict one before it at i: the intervals in which they are trusted have a point in common (the
// rule of intersecting confidence intervals).
std::size_t widest_right(const std::vector<Fit>& fits, std::size_t i, double jitter, double size) {
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  std::size_t last = 0;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    const double trusted = k_trust * jitter * fits[k].remains[i] + k_unnoticed * size;
    low = std::max(low, fits[k].values[i] - trusted);
    high = std::min(high, fits[k].values[i] + trusted);
    if (low > high) break;
    last = k;
  }
  return last;
}

Series smooth(const Series& detected, const Series& sizes, double sigma_s, const FrameRate& fps) {
  if (detected.size() <= k_order) return detected;
  const Series right = without_wrong(detected, sizes, fps);
  const Series jitter = jitter_of(right, fps);
  const std::vector<Fit> fits = fits_of(right, sigma_s * fps.hz());
  Series widest(right.size()), least(right.size()), result(right.size());
  for (std::size_t i = 0; i < right.size(); ++i)
    widest[i] = static_cast<double>(widest_right(fits, i, jitter[i], sizes[i]));
  const auto around = [](const Series& values, std::size_t i) {
    const auto [begin, end] = window(values, i, k_spread);
    return Series(values.begin() + static_cast<std::ptrdiff_t>(begin),
                  values.begin() + static_cast<std::ptrdiff_t>(end));
  };
  for (std::size_t i = 0; i < right.size(); ++i) least[i] = std::ranges::min(around(widest, i));
  for (std::size_t i = 0; i < right.size(); ++i) {
    const Series near = around(least, i);
    const double mean =
        std::accumulate(near.begin(), near.end(), 0.0) / static_cast<double>(near.size());
    const auto k = static_cast<std::size_t>(mean);
    const std::size_t next = std::min(k + 1, fits.size() - 1);
    result[i] = std::lerp(fits[k].values[i], fits[next].values[i], mean - static_cast<double>(k));
  }
  return result;
}

// One stretch: frames first..first+n-1, all with values.
struct Stretch {
  std::size_t first = 0;
  Series x, y, width, height;

  std::size_t length() const { return x.size(); }
  Series sizes() const {
    Series result(length());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = (width[i] + height[i]) / 2;
    return result;
  }
};

void append(Stretch& stretch, const Box& box) {
  stretch.x.push_back((box.x1 + box.x2) / 2.0);
  stretch.y.push_back((box.y1 + box.y2) / 2.0);
  stretch.width.push_back(box.width());
  stretch.height.push_back(box.height());
}

// Straight from the stretch's last entry to `box`, `steps` frames later.
void bridge(Stretch& stretch, const Box& box, std::size_t steps) {
  Stretch end;
  append(end, box);
  for (auto [series, target] :
       {std::pair(&stretch.x, end.x[0]), std::pair(&stretch.y, end.y[0]),
        std::pair(&stretch.width, end.width[0]), std::pair(&stretch.height, end.height[0])}) {
    const double start = series->back();
    for (std::size_t k = 1; k <= steps; ++k)
      series->push_back(start +
                        (target - start) * static_cast<double>(k) / static_cast<double>(steps));
  }
}

std::vector<Stretch> stretches_of(const std::vector<std::optional<Box>>& squares,
                                  const FrameRate& fps) {
  std::vector<Stretch> stretches;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < squares.size(); ++i) {
    if (!squares[i]) continue;
    const bool goes_on = last && static_cast<double>(i - *last - 1) <= k_bridge_s * fps.hz() &&
                         overlap(*squares[*last], *squares[i]) > 0.3;
    if (goes_on) {
      bridge(stretches.back(), *squares[i], i - *last);
    } else {
      stretches.push_back({.first = i, .x = {}, .y = {}, .width = {}, .height = {}});
      append(stretches.back(), *squares[i]);
    }
    last = i;
  }
  return stretches;
}

}  // namespace

std::vector<std::optional<FaceSquare>> smooth_faces(const std::vector<std::optional<Box>>& squares,
                                                    const FrameRate& fps) {
  std::vector<std::optional<FaceSquare>> result(squares.size());
  for (const Stretch& stretch : stretches_of(squares, fps)) {
    const Series sizes = stretch.sizes();
    const Series x = smooth(stretch.x, sizes, k_centre_sigma_s, fps);
    const Series y = smooth(stretch.y, sizes, k_centre_sigma_s, fps);
    const Series size = smooth(sizes, sizes, k_size_sigma_s, fps);
    for (std::size_t i = 0; i < size.size(); ++i)
      result[stretch.first + i] = FaceSquare{x[i], y[i], size[i]};
  }
  return result;
}

std::vector<std::optional<FaceSquare>> bridged_faces(const std::vector<std::optional<Box>>& squares,
                                                     const FrameRate& fps) {
  std::vector<std::optional<FaceSquare>> result(squares.size());
  for (const Stretch& stretch : stretches_of(squares, fps)) {
    const Series sizes = stretch.sizes();
    for (std::size_t i = 0; i < sizes.size(); ++i)
      result[stretch.first + i] = FaceSquare{stretch.x[i], stretch.y[i], sizes[i]};
  }
  return result;
}

std::vector<std::optional<Box>> smooth_boxes(const std::vector<std::optional<Box>>& boxes,
                                             const FrameRate& fps) {
  std::vector<std::optional<Box>> result(boxes.size());
  for (const Stretch& stretch : stretches_of(boxes, fps)) {
    const Series sizes = stretch.sizes();
    const Series x = smooth(stretch.x, sizes, k_centre_sigma_s, fps);
    const Series y = smooth(stretch.y, sizes, k_centre_sigma_s, fps);
    const Series width = smooth(stretch.width, sizes, k_size_sigma_s, fps);
    const Series height = smooth(stretch.height, sizes, k_centre_sigma_s, fps);
    const auto at = [](double value) { return static_cast<int>(std::lround(value)); };
    for (std::size_t i = 0; i < sizes.size(); ++i)
      result[stretch.first + i] = Box{at(x[i] - width[i] / 2), at(y[i] - height[i] / 2),
                                      at(x[i] + width[i] / 2), at(y[i] + height[i] / 2)};
  }
  return result;
}

}  // namespace navtalk
