#include "avatars/live/live_face.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/media/decode/audio.h"
#include "gpu/features/mel.h"
#include "gpu/features/windows.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_samples_per_token = 320;  // 20 ms at 16 kHz

// At 16 kHz; `first` in the same samples.
struct Heard {
  std::vector<float> samples;
  std::int64_t first = 0;
};

Heard heard_at_16k(std::span<const std::int16_t> sound, std::size_t first, int rate_hz) {
  Audio audio{.rate_hz = rate_hz, .samples = std::vector<float>(sound.size())};
  std::ranges::transform(sound, audio.samples.begin(),
                         [](std::int16_t sample) { return static_cast<float>(sample) / 32768.0F; });
  const auto begin = static_cast<std::int64_t>(first) * k_sample_rate_hz / rate_hz;
  if (rate_hz == k_sample_rate_hz) return {std::move(audio.samples), begin};
  return {resample(audio, k_sample_rate_hz).samples, begin};
}

// Tokens are counted from the start of the sound, which whisper hears as its segment's. Tokens
// outside of it are zeros, as at the ends of a recording.
NdArray<float> window_of(Model& model, const Heard& heard) {
  const ModelInfo& info = model.info();
  NdArray<float> window({1, info.context_rows, info.context_width});
  const std::int64_t begin = heard.first / k_samples_per_token + first_token(0, k_live_fps);
  const std::int64_t from = std::max<std::int64_t>(begin, 0);
  const std::int64_t to = std::min(begin + k_window_tokens,
                                   token_count(static_cast<std::int64_t>(heard.samples.size())));
  if (from >= to) return window;
  const NdArray<float> states = model.whisper_states(log_mel(heard.samples), from, to - from);
  const std::size_t token_size = window.stride0() / k_window_tokens;
  std::ranges::copy(states.values, window.values.begin() +
                                       static_cast<std::ptrdiff_t>(
                                           static_cast<std::size_t>(from - begin) * token_size));
  return window;
}

}  // namespace

std::int64_t live_frame(const Bundle& avatar, std::int64_t number) {
  return shown_frame(avatar.info(), k_live_fps, number);
}

std::optional<NdArray<std::uint8_t>> live_face(Model& model, const Bundle& avatar,
                                               std::int64_t number,
                                               std::span<const std::int16_t> sound,
                                               std::size_t first, int rate_hz) {
  const std::int64_t frame = live_frame(avatar, number);
  if (!avatar.face(frame)) return std::nullopt;
  return model.faces(avatar.latent(frame), window_of(model, heard_at_16k(sound, first, rate_hz)));
}

}  // namespace navtalk
