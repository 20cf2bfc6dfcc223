#include "avatars/faces/face_smoothing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "avatars/faces/face_track.h"

namespace navtalk {
namespace {

constexpr double k_bridge_s = 0.4;

struct Smoothing {
  double reach_s;    // to each side, in which a wrong value is told from a movement
  double sigma_s;    // of the Gaussian
  double unnoticed;  // of the face's size: so far from what was detected nobody notices it
};
constexpr Smoothing k_centre{0.18, 0.06, 0.01}, k_size{1.0, 0.6, 0.03};

// A value is wrong that is off the line through its neighbours by more than so many times what these are
// usually off, and by so much of the face's size at least.
constexpr double k_wrong = 4, k_least_wrong = 0.05;
// A smoothed value stays within so many times what the detections around it usually are off.
constexpr double k_bound = 4;

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

Series local_median(const Series& values, std::size_t reach) {
  Series result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [begin, end] = window(values, i, reach);
    result[i] = median(Series(values.begin() + static_cast<std::ptrdiff_t>(begin),
                              values.begin() + static_cast<std::ptrdiff_t>(end)));
  }
  return result;
}

// At i, of the line through the values around it whose slope is the median of the slopes from each of them
// (Siegel's repeated medians): up to half of the values may be wrong.
double on_line(const Series& values, std::size_t i, std::size_t reach) {
  const auto [begin, end] = window(values, i, reach);
  if (end - begin < 3) return values[i];
  Series slopes;
  for (std::size_t a = begin; a < end; ++a) {
    Series from;
    for (std::size_t b = begin; b < end; ++b) {
      if (a != b)
        from.push_back((values[b] - values[a]) / (static_cast<double>(b) - static_cast<double>(a)));
    }
    slopes.push_back(median(std::move(from)));
  }
  const double slope = median(std::move(slopes));
  Series here;
  for (std::size_t a = begin; a < end; ++a)
    here.push_back(values[a] + slope * (static_cast<double>(i) - static_cast<double>(a)));
  return median(std::move(here));
}

Series distances(const Series& a, const Series& b) {
  Series result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = std::abs(a[i] - b[i]);
  return result;
}

// Wrong values are replaced by what the line through their neighbours has there.
Series without_wrong(const Series& values, const Series& sizes, std::size_t reach) {
  Series line(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) line[i] = on_line(values, i, reach);
  const Series off = distances(values, line), usual = local_median(off, reach);
  Series result = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (off[i] > std::max(k_wrong * usual[i], k_least_wrong * sizes[i])) result[i] = line[i];
  }
  return result;
}

// Of a line through the values around each, weighted by a Gaussian: a steady movement is kept, at the ends
// of the clip as well.
Series gaussian(const Series& values, double sigma) {
  const auto reach = static_cast<std::size_t>(std::ceil(3 * sigma));
  Series result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [begin, end] = window(values, i, reach);
    double w = 0, wd = 0, wdd = 0, wv = 0, wdv = 0;
    for (std::size_t j = begin; j < end; ++j) {
      const double distance = static_cast<double>(j) - static_cast<double>(i);
      const double weight = std::exp(-0.5 * distance * distance / (sigma * sigma));
      w += weight;
      wd += weight * distance;
      wdd += weight * distance * distance;
      wv += weight * values[j];
      wdv += weight * distance * values[j];
    }
    const double spread = w * wdd - wd * wd;
    result[i] = spread > 1e-9 * w * w ? (wdd * wv - wd * wdv) / spread : wv / w;
  }
  return result;
}

Series smooth(const Series& detected, const Series& sizes, const Smoothing& how,
              const FrameRate& fps) {
  const auto reach = static_cast<std::size_t>(std::lround(how.reach_s * fps.hz()));
  const Series right = without_wrong(detected, sizes, reach);
  Series result = gaussian(right, how.sigma_s * fps.hz());
  const Series usual = local_median(distances(result, right), reach);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double bound = std::max(k_bound * usual[i], how.unnoticed * sizes[i]);
    result[i] = std::clamp(result[i], right[i] - bound, right[i] + bound);
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
    const Series x = smooth(stretch.x, sizes, k_centre, fps);
    const Series y = smooth(stretch.y, sizes, k_centre, fps);
    const Series size = smooth(sizes, sizes, k_size, fps);
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
    const Series x = smooth(stretch.x, sizes, k_centre, fps);
    const Series y = smooth(stretch.y, sizes, k_centre, fps);
    const Series width = smooth(stretch.width, sizes, k_size, fps);
    const Series height = smooth(stretch.height, sizes, k_centre, fps);
    const auto at = [](double value) { return static_cast<int>(std::lround(value)); };
    for (std::size_t i = 0; i < sizes.size(); ++i)
      result[stretch.first + i] = Box{at(x[i] - width[i] / 2), at(y[i] - height[i] / 2),
                                      at(x[i] + width[i] / 2), at(y[i] + height[i] / 2)};
  }
  return result;
}

}  // namespace navtalk
