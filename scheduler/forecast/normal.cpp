#include "scheduler/forecast/normal.h"

#include <cmath>
#include <numbers>

#include "core/base/check.h"

namespace navtalk {

double normal_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Abramowitz and Stegun 26.2.23 (error 4.5e-4), then Newton's method with Halley's correction on
// the exact distribution.
double normal_quantile(double p) {
  NAVTALK_CHECK(p > 0 && p < 1);
  const double tail = p < 0.5 ? p : 1 - p;
  const double t = std::sqrt(-2 * std::log(tail));
  double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                     (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 2; ++i) {
    const double density = std::exp(-z * z / 2) / (std::numbers::sqrt2 / std::numbers::inv_sqrtpi);
    const double step = (normal_below(-z) - tail) / density;
    z += step / (1 - z * step / 2);
  }
  return p < 0.5 ? -z : z;
}

}  // namespace navtalk
