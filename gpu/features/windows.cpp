#include "gpu/features/windows.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "gpu/features/mel.h"

namespace navtalk {
namespace {

constexpr int k_tokens_per_s = 50;
constexpr std::int64_t k_padding_left = 2;  // in video frames

// floor((samples / 16000) * rate), in double and in this order: some exact multiples of 640 samples
// lose a frame here, in the reference as well.
std::int64_t units(std::int64_t samples, const FrameRate& rate) {
  return static_cast<std::int64_t>(
      std::floor(static_cast<double>(samples) / k_sample_rate_hz * rate.num() / rate.den()));
}

void require_rate(const FrameRate& fps) {
  if (fps < 1)
    throw Error(Code::usage, "a frame rate of " + text(fps) + " is too low: use at least 1");
}

void require_states(const NdArray<float>& states, std::int64_t tokens) {
  if (states.shape.size() != 4)
    throw Error(Code::invalid, "whisper states need the shape [segments, tokens, layers, width]");
  if (states.dim(0) * states.dim(1) < tokens)
    throw Error(Code::invalid, "whisper states hold " +
                                   std::to_string(states.dim(0) * states.dim(1)) +
                                   " tokens, the audio needs " + std::to_string(tokens));
}

}  // namespace

std::int64_t frame_count(std::int64_t samples, const FrameRate& fps) {
  require_rate(fps);
  return units(samples, fps);
}

std::int64_t token_count(std::int64_t samples) { return units(samples, k_tokens_per_s); }

std::int64_t first_token(std::int64_t frame, const FrameRate& fps) {
  require_rate(fps);
  const double tokens_a_frame = static_cast<double>(k_tokens_per_s) * fps.den() / fps.num();
  const auto padding = k_padding_left * static_cast<std::int64_t>(std::ceil(tokens_a_frame));
  return static_cast<std::int64_t>(std::floor(static_cast<double>(frame) * tokens_a_frame)) -
         padding;
}

NdArray<float> context_windows(const NdArray<float>& states, std::int64_t samples,
                               const FrameRate& fps) {
  const std::int64_t frames = frame_count(samples, fps);
  const std::int64_t tokens = token_count(samples);
  require_states(states, tokens);
  const std::int64_t layers = states.dim(2), width = states.dim(3);
  const std::int64_t row = layers * width;
  NdArray<float> windows(Shape{frames, k_window_tokens * layers, width});
  for (std::int64_t i = 0; i < frames; ++i) {
    const std::int64_t begin = first_token(i, fps);
    // What lies outside the audio stays zero.
    const std::int64_t first = std::max<std::int64_t>(begin, 0);
    const std::int64_t last = std::min<std::int64_t>(begin + k_window_tokens, tokens);
    if (first >= last) continue;
    std::copy(states.values.data() + first * row, states.values.data() + last * row,
              windows.row(i) + (first - begin) * row);
  }
  return windows;
}

NdArray<float> positional_table(std::int64_t rows, std::int64_t width) {
  NdArray<float> table(Shape{rows, width});
  const float step = static_cast<float>(-(std::log(10000.0) / static_cast<double>(width)));
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t column = 0; column < width; column += 2) {
      const float angle = static_cast<float>(t) * std::exp(static_cast<float>(column) * step);
      table.row(t)[column] = std::sin(angle);
      if (column + 1 < width) table.row(t)[column + 1] = std::cos(angle);
    }
  }
  return table;
}

void add_positions(NdArray<float>& windows) {
  const NdArray<float> table = positional_table(windows.dim(1), windows.dim(2));
  for (std::int64_t i = 0; i < windows.dim(0); ++i)
    std::transform(table.values.begin(), table.values.end(), windows.row(i), windows.row(i),
                   [](float position, float value) { return value + position; });
}

}  // namespace navtalk
