#include "gpu/image/resize_taps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace navtalk {
namespace {

constexpr float k_weight_scale = 2048.0F;

struct Position {
  int whole;
  float fraction;
};

// Pixel centres map onto each other. OpenCV rounds to float only at the end, and so do we.
Position source_position(int destination, double scale) {
  const auto position = static_cast<float>((destination + 0.5) * scale - 0.5);
  const int whole = static_cast<int>(std::floor(position));
  return {whole, position - static_cast<float>(whole)};
}

int fixed_point(float weight) { return static_cast<int>(std::lrint(weight * k_weight_scale)); }

// OpenCV clamps the position at the border in the horizontal pass, but in the vertical pass only
// the rows that it reads: there the fraction stays and both taps read the same row.
void add_linear(ResizeTaps& taps, Position at, Axis axis, int source_size) {
  if (axis == Axis::horizontal && at.whole < 0) at = {0, 0.0F};
  if (axis == Axis::horizontal && at.whole >= source_size - 1) at = {source_size - 1, 0.0F};
  for (int k = 0; k < 2; ++k) taps.index.push_back(std::clamp(at.whole + k, 0, source_size - 1));
  taps.weight.push_back(fixed_point(1.0F - at.fraction));
  taps.weight.push_back(fixed_point(at.fraction));
}

// Lanczos kernel of radius 4 at the eight distances a-0 ... a-7. sin(x)sin(x/4) at those distances
// is one sine and one cosine turned by multiples of 45 degrees.
std::array<float, 8> lanczos_weights(float fraction) {
  constexpr double r = std::numbers::sqrt2 / 2;
  constexpr std::array<std::array<double, 2>, 8> turned{
      {{1, 0}, {-r, -r}, {0, 1}, {r, -r}, {-1, 0}, {r, r}, {0, -1}, {-r, r}}};
  const float a = fraction + 3.0F;
  const double angle = -a * std::numbers::pi * 0.25;
  const double sine = std::sin(angle), cosine = std::cos(angle);
  std::array<float, 8> weights{};
  float sum = 0.0F;
  for (int k = 0; k < 8; ++k) {
    const float distance = a - static_cast<float>(k);
    const double y = -distance * std::numbers::pi * 0.25;
    // At a pixel's own place the quotient is 0/0; a huge weight lets the normalisation choose it.
    weights[k] = std::abs(distance) < 1e-6F
                     ? 1e30F
                     : static_cast<float>((turned[k][0] * sine + turned[k][1] * cosine) / (y * y));
    sum += weights[k];
  }
  const float inverse = 1.0F / sum;
  for (float& weight : weights) weight *= inverse;
  return weights;
}

void add_lanczos(ResizeTaps& taps, Position at, int source_size) {
  for (int k = 0; k < 8; ++k)
    taps.index.push_back(std::clamp(at.whole - 3 + k, 0, source_size - 1));
  for (const float weight : lanczos_weights(at.fraction))
    taps.weight.push_back(fixed_point(weight));
}

}  // namespace

ResizeTaps resize_taps(Interpolation interpolation, Axis axis, int source_size,
                       int destination_size, int begin, int end) {
  ResizeTaps taps;
  taps.count = interpolation == Interpolation::linear ? 2 : 8;
  taps.index.reserve(static_cast<std::size_t>(end - begin) * taps.count);
  taps.weight.reserve(static_cast<std::size_t>(end - begin) * taps.count);
  const double scale = 1.0 / (static_cast<double>(destination_size) / source_size);
  for (int d = begin; d < end; ++d) {
    const Position at = source_position(d, scale);
    if (interpolation == Interpolation::linear)
      add_linear(taps, at, axis, source_size);
    else
      add_lanczos(taps, at, source_size);
  }
  return taps;
}

}  // namespace navtalk
