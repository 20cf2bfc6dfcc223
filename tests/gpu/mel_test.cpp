#include "gpu/features/mel.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

using navtalk::log_mel;
using navtalk::NdArray;
using navtalk::Shape;

namespace {

std::vector<float> noise(std::size_t count, float amplitude) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-amplitude, amplitude);
  std::vector<float> samples(count);
  for (float& sample : samples) sample = value(random);
  return samples;
}

double mel_point_hz(int i) {
  const double mel = 45.2456404719 * i / 81.0;
  return mel < 15 ? 200.0 * mel / 3.0 : 1000.0 * std::pow(6.4, (mel - 15.0) / 27.0);
}

// log10 of one mel band of one frame by the definition: a direct Fourier sum in double.
double band_by_definition(const std::vector<float>& samples, int frame, int band) {
  const double low = mel_point_hz(band), mid = mel_point_hz(band + 1),
               high = mel_point_hz(band + 2);
  double sum = 0;
  for (int bin = 0; bin <= 200; ++bin) {
    const double hz = 40.0 * bin;
    const double weight = std::min((hz - low) / (mid - low), (high - hz) / (high - mid));
    if (weight <= 0) continue;
    std::complex<double> x = 0;
    for (int n = 0; n < 400; ++n) {
      const double hann = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * n / 400);
      const std::size_t at = static_cast<std::size_t>(std::abs(frame * 160 + n - 200));
      const double sample = at < samples.size() ? samples[at] : 0.0;
      x += hann * sample * std::polar(1.0, -2 * std::numbers::pi * bin * n / 400);
    }
    sum += weight * 2 / (high - low) * std::norm(x);
  }
  return std::log10(sum);
}

}  // namespace

TEST_CASE("mel features follow the definition") {
  const std::vector<float> samples = noise(navtalk::k_segment_samples, 0.5F);
  const NdArray<float> mel = log_mel(samples);
  REQUIRE(mel.shape == Shape{1, 80, 3000});
  for (int frame : {0, 1, 17, 1500, 2998})
    for (int band : {0, 1, 20, 41, 79})
      CHECK(mel.values[static_cast<std::size_t>(band * 3000 + frame)] ==
            Approx((band_by_definition(samples, frame, band) + 4) / 4).margin(5e-6));
}

TEST_CASE("silence gives -1.5 everywhere and no audio gives no segment") {
  const NdArray<float> silence = log_mel(std::vector<float>(1000));
  CHECK(silence.shape == Shape{1, 80, 3000});
  for (float value : silence.values) REQUIRE(value == -1.5F);
  CHECK(log_mel({}).shape == Shape{0, 80, 3000});
}

TEST_CASE("each segment of 30 s stands for itself: own floor, own mirrored edges") {
  std::vector<float> samples = noise(navtalk::k_segment_samples, 0.5F);
  const std::vector<float> quiet = noise(16000, 1e-4F);
  const NdArray<float> first = log_mel(samples), second = log_mel(quiet);
  samples.insert(samples.end(), quiet.begin(), quiet.end());
  const NdArray<float> both = log_mel(samples);
  REQUIRE(both.shape == Shape{2, 80, 3000});
  CHECK(std::equal(first.values.begin(), first.values.end(), both.row(0)));
  CHECK(std::equal(second.values.begin(), second.values.end(), both.row(1)));
}

TEST_CASE("nothing lies more than two below the loudest band of its segment") {
  std::vector<float> samples = noise(16000, 0.5F);
  const NdArray<float> mel = log_mel(samples);
  const auto [low, high] = std::minmax_element(mel.values.begin(), mel.values.end());
  CHECK(*low == Approx(*high - 2.0F).margin(1e-6));
}

TEST_CASE("where the sound of a segment ends does not change what was heard before") {
  std::vector<float> samples = noise(40000, 0.5F);
  const NdArray<float> alone = log_mel(samples);
  samples.resize(navtalk::k_segment_samples - 1);  // nothing is left out of this one
  CHECK(log_mel(samples) == alone);
}
