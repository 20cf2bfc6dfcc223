// Log-mel spectrogram as whisper's feature extractor computes it, per 30 s segment.
#pragma once

#include <span>

#include "core/tensor/ndarray.h"

namespace navtalk {

inline constexpr int k_sample_rate_hz = 16000;
inline constexpr int k_segment_samples = 480000;  // 30 s

// Mono 16 kHz samples [N] in [-1,1) to [S,80,3000], S = ceil(N / 480000); the last segment is
// padded with zeros. N = 0 gives [0,80,3000].
NdArray<float> log_mel(std::span<const float> samples);

}  // namespace navtalk
