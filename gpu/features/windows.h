// From whisper's hidden states to what each video frame sees. All arithmetic in double in the
// reference's order.
#pragma once

#include <cstdint>

#include "core/base/frame_rate.h"
#include "core/tensor/ndarray.h"

namespace navtalk {

// Video frames for `samples` of 16 kHz audio: floor((samples / 16000) * fps).
std::int64_t frame_count(std::int64_t samples, const FrameRate& fps);

// A frame's window: k_window_tokens whisper tokens (20 ms each) from first_token() on. Tokens
// before 0 and from token_count() = floor((samples / 16000) * 50) on are zeros.
inline constexpr std::int64_t k_window_tokens = 10;
std::int64_t token_count(std::int64_t samples);
std::int64_t first_token(std::int64_t frame, const FrameRate& fps);

// States [S,1500,L+1,D] of `samples` audio samples to context windows [n, 10*(L+1), D], row =
// (L+1)*token + layer, before the positional table. n = frame_count(). Needs fps >= 1: Error{usage}
// otherwise.
NdArray<float> context_windows(const NdArray<float>& states, std::int64_t samples,
                               const FrameRate& fps);

// Sinusoidal table [rows, width], sines and cosines interleaved; add_positions adds it to every
// window in place.
NdArray<float> positional_table(std::int64_t rows, std::int64_t width);
void add_positions(NdArray<float>& windows);

}  // namespace navtalk
