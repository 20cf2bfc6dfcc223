#include "avatars/faces/face_smoothing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "avatars/faces/face_track.h"

namespace navtalk {
namespace {

constexpr double k_bridge_s = 0.4;

struct Smoothing {
  double median_s;  // the whole window
  double sigma_s;   // of the Gaussian
};
constexpr Smoothing k_centre{0.36, 0.06}, k_size{2.0, 0.6};

using Series = std::vector<double>;

// The entries of `values` at most `reach` from i.
std::pair<std::size_t, std::size_t> window(const Series& values, std::size_t i, std::size_t reach) {
  return {i - std::min(i, reach), std::min(values.size(), i + reach + 1)};
}

Series median(const Series& values, std::size_t reach) {
  Series result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [begin, end] = window(values, i, reach);
    Series part(values.begin() + static_cast<std::ptrdiff_t>(begin),
                values.begin() + static_cast<std::ptrdiff_t>(end));
    std::nth_element(part.begin(), part.begin() + std::ssize(part) / 2, part.end());
    result[i] = part[part.size() / 2];
  }
  return result;
}

Series gaussian(const Series& values, double sigma) {
  const auto reach = static_cast<std::size_t>(std::ceil(3 * sigma));
  Series result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [begin, end] = window(values, i, reach);
    double sum = 0, weights = 0;
    for (std::size_t j = begin; j < end; ++j) {
      const double distance = (static_cast<double>(j) - static_cast<double>(i)) / sigma;
      const double weight = std::exp(-0.5 * distance * distance);
      sum += weight * values[j];
      weights += weight;
    }
    result[i] = sum / weights;
  }
  return result;
}

Series smooth(const Series& values, const Smoothing& how, const FrameRate& fps) {
  return gaussian(median(values, static_cast<std::size_t>(how.median_s * fps.hz() / 2)),
                  how.sigma_s * fps.hz());
}

// One stretch: frames first..first+n-1, all with values.
struct Stretch {
  std::size_t first = 0;
  Series x, y, size;
};

void append(Stretch& stretch, const Box& box) {
  stretch.x.push_back((box.x1 + box.x2) / 2.0);
  stretch.y.push_back((box.y1 + box.y2) / 2.0);
  stretch.size.push_back((box.width() + box.height()) / 2.0);
}

// Straight from the stretch's last entry to `box`, `steps` frames later.
void bridge(Stretch& stretch, const Box& box, std::size_t steps) {
  Stretch end;
  append(end, box);
  for (auto [series, target] : {std::pair(&stretch.x, end.x[0]), std::pair(&stretch.y, end.y[0]),
                                std::pair(&stretch.size, end.size[0])}) {
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
      stretches.push_back({.first = i, .x = {}, .y = {}, .size = {}});
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
    const Series x = smooth(stretch.x, k_centre, fps);
    const Series y = smooth(stretch.y, k_centre, fps);
    const Series size = smooth(stretch.size, k_size, fps);
    for (std::size_t i = 0; i < size.size(); ++i)
      result[stretch.first + i] = FaceSquare{x[i], y[i], size[i]};
  }
  return result;
}

}  // namespace navtalk
