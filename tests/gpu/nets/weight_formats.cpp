// How far faces of a checkpoint folder are from fp32 in each number format of a GPU, and what the weights take, computed on the CPU:
//   NAVTALK_MODELS=~/MuseTalk/models test_model '[weight-formats]'
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

#include "gpu/model/model.h"

namespace navtalk {
namespace {

NdArray<float> noise_of(const Shape& shape, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  NdArray<float> array(shape);
  for (float& value : array.values) value = normal(bits);
  return array;
}

double decibels(const NdArray<std::uint8_t>& a, const NdArray<std::uint8_t>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    sum += std::pow(static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]), 2);
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.values.size()) / sum);
}

int furthest(const NdArray<std::uint8_t>& a, const NdArray<std::uint8_t>& b) {
  int most = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    most = std::max(most, std::abs(int{a.values[i]} - int{b.values[i]}));
  return most;
}

}  // namespace

TEST_CASE("faces in the number formats of a GPU", "[.][weight-formats]") {
  const char* const models = std::getenv("NAVTALK_MODELS");
  REQUIRE(models != nullptr);
  const char* const faces = std::getenv("NAVTALK_FACES");
  const std::int64_t count = faces != nullptr ? std::atoll(faces) : 1;
  const auto load = [&](Precision precision, WeightFormat weights) {
    return Model::load({.models = models,
                        .device = {},
                        .precision = precision,
                        .weights = weights,
                        .as_on_gpu = true});
  };
  NdArray<float> latent, windows;
  NdArray<std::uint8_t> wanted;
  for (const auto& [precision, weights] : {std::pair(Precision::fp32, WeightFormat::computed),
                                           std::pair(Precision::fp32, WeightFormat::int8),
                                           std::pair(Precision::fp16, WeightFormat::computed),
                                           std::pair(Precision::fp16, WeightFormat::int8)}) {
    Model model = load(precision, weights);
    if (wanted.values.empty()) {
      latent = noise_of({count, 8, 32, 32}, 1);
      windows = noise_of({count, model.info().context_rows, model.info().context_width}, 2);
    }
    const NdArray<std::uint8_t> found = model.faces(latent, windows);
    if (wanted.values.empty()) wanted = found;
    std::cout << name(precision) << ", weights " << name(weights) << ": "
              << model.info().weight_bytes << " bytes, " << decibels(found, wanted)
              << " dB from fp32, off by " << furthest(found, wanted) << " at most\n";
  }
}

}  // namespace navtalk
