// The quantile of a sample, by the nearest rank. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace navtalk {

// 0 of none. Reorders the values.
inline double quantile_of(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace navtalk
