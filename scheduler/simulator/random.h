// Random numbers that depend on nothing but a seed and two numbers: what happens to the seventh GPU
// is the same under every policy. Pure.
#pragma once

#include <cmath>
#include <cstdint>

#include "scheduler/forecast/normal.h"

namespace navtalk {

// SplitMix64's finaliser over the three (Steele, Lea, Flood 2014).
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t stream, std::uint64_t number) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15ULL + stream * 0xD1B54A32D192ED03ULL +
                    (number + 1) * 0x8CB92BA72F3D8DD7ULL;
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
  }
  return z;
}

// In (0, 1).
constexpr double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t number) {
  return (static_cast<double>(mixed(seed, stream, number) >> 11) + 0.5) * 0x1p-53;
}

// A sequence of its own.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  double uniform() { return navtalk::uniform(seed_, stream_, number_++); }
  double exponential(double mean) { return -mean * std::log(uniform()); }
  double normal() { return normal_quantile(uniform()); }
  double lognormal(double median, double sigma) { return median * std::exp(sigma * normal()); }

 private:
  std::uint64_t seed_, stream_, number_ = 0;
};

}  // namespace navtalk
