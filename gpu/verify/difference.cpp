#include "gpu/verify/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/check.h"

namespace navtalk {
namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();

double standard_deviation(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float value : values) sum += static_cast<double>(value);
  const double mean = sum / static_cast<double>(values.size());
  for (const float value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

FloatDifference difference(std::span<const float> computed, std::span<const float> expected) {
  NAVTALK_CHECK(computed.size() == expected.size());
  FloatDifference result;
  if (expected.empty()) return result;
  double squares = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = std::abs(static_cast<double>(computed[i]) - static_cast<double>(expected[i]));
    if (!std::isfinite(d)) return {k_infinity, k_infinity, standard_deviation(expected)};
    result.max = std::max(result.max, d);
    squares += d * d;
  }
  result.rms = std::sqrt(squares / static_cast<double>(expected.size()));
  result.std = standard_deviation(expected);
  return result;
}

ByteDifference difference(std::span<const std::uint8_t> computed,
                          std::span<const std::uint8_t> expected) {
  NAVTALK_CHECK(computed.size() == expected.size());
  ByteDifference result{.psnr_db = k_infinity};
  if (expected.empty()) return result;
  std::size_t differing = 0;
  double squares = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const int d = std::abs(int{computed[i]} - int{expected[i]});
    differing += d != 0 ? 1 : 0;
    squares += d * d;
    result.max = std::max(result.max, d);
  }
  const auto count = static_cast<double>(expected.size());
  result.differing_percent = 100.0 * static_cast<double>(differing) / count;
  if (differing > 0) result.psnr_db = 10 * std::log10(255.0 * 255.0 * count / squares);
  return result;
}

}  // namespace navtalk
