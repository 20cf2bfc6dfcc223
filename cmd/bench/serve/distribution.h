// What many measurements of one kind come to. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace navtalk::cmd {

// In the unit of the values. Percentiles are of the nearest rank: p99 is exceeded by one value in a
// hundred at most, and of few values it is the largest.
struct Distribution {
  std::size_t count = 0;
  double mean = 0, p50 = 0, p95 = 0, p99 = 0, max = 0;
};

Distribution distribution_of(std::vector<float> values);  // all 0 of none

// The value in the middle, the lower one of two; `values` is not empty and loses its order.
float median_of(std::vector<float>& values);

}  // namespace navtalk::cmd
