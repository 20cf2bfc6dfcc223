#include "avatars/live/live_hearing.h"

#include <algorithm>
#include <utility>

#include "avatars/live/live_rate.h"
#include "core/base/check.h"
#include "core/media/decode/audio.h"
#include "gpu/features/mel.h"
#include "gpu/features/windows.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_samples_per_token = 320;  // 20 ms at 16 kHz
// A step serves the pictures of the next 120 ms too where that leaves each of them at least 200 ms of future.
constexpr std::int64_t k_shared_tokens = 6, k_shared_future_tokens = 10;

std::vector<float> samples_at_16k(const SoundWindow& sound) {
  Audio audio{.rate_hz = sound.rate_hz, .samples = std::vector<float>(sound.samples.size())};
  std::ranges::transform(sound.samples, audio.samples.begin(),
                         [](std::int16_t sample) { return static_cast<float>(sample) / 32768.0F; });
  if (sound.rate_hz == k_sample_rate_hz) return std::move(audio.samples);
  return resample(audio, k_sample_rate_hz).samples;
}

// Of a place in a sound that starts `begin` samples after the session's.
std::int64_t token_at(std::int64_t sample, std::int64_t begin, int rate_hz) {
  return (sample - begin) * k_sample_rate_hz / rate_hz / k_samples_per_token;
}

std::int64_t first_token_of(const SoundWindow& picture, const SoundWindow& sound) {
  const std::int64_t shown = picture.begin + static_cast<std::int64_t>(picture.first);
  return token_at(shown, sound.begin, sound.rate_hz) + first_token(0, k_live_rate);
}

std::int64_t tokens_in(const SoundWindow& sound) {
  return token_at(static_cast<std::int64_t>(sound.samples.size()), 0, sound.rate_hz);
}

// The tokens of the sound and a second of the silence behind it: all 30 s would cost five times as much. In steps, so that
// the nets see few different sizes.
NdArray<float> beginning(const NdArray<float>& mel, std::int64_t tokens) {
  constexpr std::int64_t k_silent = 50, k_step = 50;
  const std::int64_t wanted = (tokens + k_silent + k_step - 1) / k_step * k_step;
  const std::int64_t frames = std::min(mel.dim(2), 2 * wanted);
  NdArray<float> part({1, mel.dim(1), frames});
  for (std::int64_t bin = 0; bin < mel.dim(1); ++bin) {
    std::copy_n(mel.values.data() + bin * mel.dim(2), frames, part.values.data() + bin * frames);
  }
  return part;
}

// What both have is the same.
bool agree(const SoundWindow& a, const SoundWindow& b) {
  if (a.rate_hz != b.rate_hz) return false;
  const std::int64_t begin = std::max(a.begin, b.begin);
  const auto from = [begin](const SoundWindow& sound) {
    return std::span(sound.samples).subspan(static_cast<std::size_t>(begin - sound.begin));
  };
  const std::int64_t end = begin + 1;
  if (a.begin + std::ssize(a.samples) < end || b.begin + std::ssize(b.samples) < end) return false;
  const std::size_t both = std::min(from(a).size(), from(b).size());
  return std::ranges::equal(from(a).first(both), from(b).first(both));
}

}  // namespace

// Tokens outside of the sound are zeros, as at the ends of a recording.
std::vector<NdArray<float>> LiveHearing::windows(Model& model,
                                                 std::span<const SoundWindow* const> pictures) {
  NAVTALK_CHECK(!pictures.empty());
  const SoundWindow& last = *pictures.back();
  if (!serves(last)) {
    const std::int64_t begin = std::max<std::int64_t>(first_token_of(*pictures.front(), last), 0);
    const std::int64_t needed = first_token_of(last, last) + k_window_tokens;
    const std::int64_t known = tokens_in(last);
    const bool shared = known >= needed + k_shared_tokens + k_shared_future_tokens;
    const std::int64_t end = std::min(known, needed + (shared ? k_shared_tokens : 0));
    step(model, last, begin, end - begin);
    step_->shared = shared;
  }
  const ModelInfo& info = model.info();
  std::vector<NdArray<float>> windows;
  for (const SoundWindow* picture : pictures) {
    NdArray<float>& window = windows.emplace_back(Shape{1, info.context_rows, info.context_width});
    const std::int64_t begin = first_token_of(*picture, step_->sound);
    const std::int64_t count = step_->states.values.empty() ? 0 : step_->states.dim(0);
    const std::int64_t from = std::max(begin, step_->first);
    const std::int64_t to = std::min(begin + k_window_tokens, step_->first + count);
    if (from >= to) continue;
    const std::size_t token = window.values.size() / static_cast<std::size_t>(k_window_tokens);
    std::copy_n(
        step_->states.values.begin() +
            static_cast<std::ptrdiff_t>(token * static_cast<std::size_t>(from - step_->first)),
        token * static_cast<std::size_t>(to - from),
        window.values.begin() +
            static_cast<std::ptrdiff_t>(token * static_cast<std::size_t>(from - begin)));
  }
  return windows;
}

void LiveHearing::step(Model& model, const SoundWindow& sound, std::int64_t first,
                       std::int64_t count) {
  step_ = Step{.sound = sound, .first = first};
  if (count <= 0) return;
  const NdArray<float> mel = beginning(log_mel(samples_at_16k(sound)), tokens_in(sound));
  const NdArray<float> states = model.whisper_states(mel, first, count);
  step_->states = {Shape(states.shape.begin() + 1, states.shape.end()), states.values};
  ++steps_;
}

bool LiveHearing::serves(const SoundWindow& sound) const {
  if (!step_ || !step_->shared || !agree(step_->sound, sound)) return false;
  const std::int64_t begin = first_token_of(sound, step_->sound);
  return begin >= step_->first && begin + k_window_tokens <= step_->first + step_->states.dim(0);
}

}  // namespace navtalk
