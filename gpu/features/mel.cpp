// Every step of the Fourier transform goes through libtorch, as in the reference: where a spectrum
// is almost empty, the rounding of a 32-bit transform alone moves the result by more than 1e-5 (a
// transform in double differs from the reference by 1.2e-5 on speech, by 6.5e-5 on a chirp), so
// only the same transform gives the same features.
#include "gpu/features/mel.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace navtalk {
namespace {

constexpr std::int64_t k_window = 400, k_hop = 160, k_bins = k_window / 2 + 1;
constexpr std::int64_t k_mels = 80;
constexpr std::int64_t k_frames = k_segment_samples / k_hop;  // the last of 3001 is dropped
constexpr std::int64_t k_block = 250;                         // frames at a time stay in cache
constexpr std::int64_t k_edge = k_window / 2;                 // reflected at both ends
constexpr float k_floor = 1e-10F;
constexpr double k_bin_hz = static_cast<double>(k_sample_rate_hz) / k_window;

// Slaney's scale: linear below 1 kHz, logarithmic above.
double hz_from_mel(double mel) {
  return mel < 15.0 ? mel * 200.0 / 3.0 : 1000.0 * std::exp((mel - 15.0) * std::log(6.4) / 27.0);
}

// [201,80]: triangles of unit area between 82 points that are equally spaced in mel.
at::Tensor mel_filters() {
  const double top_mel = 15.0 + 27.0 * std::log(8.0) / std::log(6.4);  // 8 kHz
  std::array<double, k_mels + 2> hz{};
  for (std::size_t i = 0; i < hz.size(); ++i)
    hz[i] = hz_from_mel(top_mel * static_cast<double>(i) / (k_mels + 1));

  at::Tensor filters = at::empty({k_bins, k_mels}, at::kFloat);
  float* out = filters.data_ptr<float>();
  for (std::int64_t bin = 0; bin < k_bins; ++bin) {
    for (std::size_t i = 0; i < k_mels; ++i) {
      const double f = static_cast<double>(bin) * k_bin_hz;
      const double rise = (f - hz[i]) / (hz[i + 1] - hz[i]);
      const double fall = (hz[i + 2] - f) / (hz[i + 2] - hz[i + 1]);
      *out++ = static_cast<float>(std::max(0.0, std::min(rise, fall)) * 2.0 / (hz[i + 2] - hz[i]));
    }
  }
  return filters;
}

// Up to 480000 samples, padded with zeros to a segment, then mirrored at both ends without the edge
// sample itself.
std::vector<float> padded_segment(std::span<const float> samples) {
  std::vector<float> padded(k_segment_samples + 2 * k_edge);
  std::copy(samples.begin(), samples.end(), padded.begin() + k_edge);
  const auto segment_end = padded.end() - k_edge;
  std::reverse_copy(padded.begin() + k_edge + 1, padded.begin() + 2 * k_edge + 1, padded.begin());
  std::reverse_copy(segment_end - 1 - k_edge, segment_end - 1, segment_end);
  return padded;
}

// Frames that hear any of `count` samples; behind them all is silence, whose spectrum is zeros.
std::int64_t heard_frames(std::size_t count) {
  const auto samples = static_cast<std::int64_t>(count);
  const bool mirrored = samples > k_segment_samples - 1 - k_edge;
  return mirrored ? k_frames : (k_edge + samples + k_hop - 1) / k_hop;
}

// One segment to [80,3000] at `out`. Frames of silence are all alike: one stands for them.
void segment_log_mel(std::span<const float> samples, const at::Tensor& filters,
                     const at::Tensor& window, float* out) {
  std::vector<float> padded = padded_segment(samples);
  const at::Tensor frames = at::from_blob(padded.data(), {k_frames, k_window}, {k_hop, 1});
  const std::int64_t heard = (heard_frames(samples.size()) + k_block - 1) / k_block * k_block;
  at::Tensor mel = at::zeros({std::min(heard + 1, k_frames), k_mels}, at::kFloat);
  for (std::int64_t t = 0; t < heard; t += k_block) {
    const at::Tensor spectrum = at::fft_rfft(frames.narrow(0, t, k_block) * window);
    at::Tensor block = mel.narrow(0, t, k_block);
    at::matmul_out(block, spectrum.abs().square_(), filters);
  }
  mel.clamp_min_(k_floor).log10_();
  mel.clamp_min_(mel.max().item<float>() - 8.0F).add_(4.0F).div_(4.0F);
  at::Tensor all = at::from_blob(out, {k_mels, k_frames});
  all.narrow(1, 0, mel.size(0)).copy_(mel.t());
  if (heard < k_frames) all.narrow(1, heard, k_frames - heard).fill_(mel[heard][0].item<float>());
}

}  // namespace

NdArray<float> log_mel(std::span<const float> samples) {
  const std::size_t segments = (samples.size() + k_segment_samples - 1) / k_segment_samples;
  NdArray<float> features(Shape{static_cast<std::int64_t>(segments), k_mels, k_frames});
  static const at::Tensor filters = mel_filters();
  static const at::Tensor window = at::hann_window(k_window, at::kFloat);
  for (std::size_t s = 0; s < segments; ++s) {
    const std::size_t begin = s * k_segment_samples;
    const std::size_t count = std::min<std::size_t>(k_segment_samples, samples.size() - begin);
    segment_log_mel(samples.subspan(begin, count), filters, window,
                    features.row(static_cast<std::int64_t>(s)));
  }
  return features;
}

}  // namespace navtalk
