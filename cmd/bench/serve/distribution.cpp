#include "cmd/bench/serve/distribution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/check.h"

namespace navtalk::cmd {

Distribution distribution_of(std::vector<float> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const auto at = [&](double share) -> double {
    const auto rank = static_cast<std::size_t>(std::ceil(share * count));
    return values[std::max<std::size_t>(rank, 1) - 1];
  };
  return {.count = values.size(),
          .mean = std::accumulate(values.begin(), values.end(), 0.0) / count,
          .p50 = at(0.50),
          .p95 = at(0.95),
          .p99 = at(0.99),
          .max = values.back()};
}

float median_of(std::vector<float>& values) {
  NAVTALK_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace navtalk::cmd
