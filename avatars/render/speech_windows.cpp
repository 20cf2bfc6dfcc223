#include "avatars/render/speech_windows.h"

#include <algorithm>
#include <utility>

#include "gpu/features/mel.h"
#include "gpu/features/windows.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_segment_tokens = 1500;

}  // namespace

SpeechWindows::SpeechWindows(Model& model, std::vector<float> samples, const FrameRate& fps)
    : model_(model),
      samples_(std::move(samples)),
      fps_(fps),
      frame_count_(navtalk::frame_count(static_cast<std::int64_t>(samples_.size()), fps)),
      token_count_(navtalk::token_count(static_cast<std::int64_t>(samples_.size()))) {}

const NdArray<float>& SpeechWindows::segment_states(std::int64_t segment) {
  if (const auto found = segments_.find(segment); found != segments_.end()) return found->second;
  const std::size_t first = static_cast<std::size_t>(segment) * k_segment_samples;
  const std::size_t size = std::min<std::size_t>(k_segment_samples, samples_.size() - first);
  const NdArray<float> mel = log_mel(std::span(samples_).subspan(first, size));
  return segments_.emplace(segment, model_.whisper_states(mel)).first->second;
}

NdArray<float> SpeechWindows::windows(std::span<const std::int64_t> frames) {
  const ModelInfo& info = model_.info();
  NdArray<float> result(
      {static_cast<std::int64_t>(frames.size()), info.context_rows, info.context_width});
  const std::size_t token_size = result.stride0() / k_window_tokens;
  std::int64_t oldest = 0;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const std::int64_t first = first_token(frames[k], fps_);
    if (k == 0) oldest = first;
    for (std::int64_t j = 0; j < k_window_tokens; ++j) {
      const std::int64_t token = first + j;
      if (token < 0 || token >= token_count_) continue;  // stays zero
      const float* states = segment_states(token / k_segment_tokens).values.data() +
                            static_cast<std::size_t>(token % k_segment_tokens) * token_size;
      std::copy_n(
          states, token_size,
          result.row(static_cast<std::int64_t>(k)) + static_cast<std::size_t>(j) * token_size);
    }
  }
  segments_.erase(segments_.begin(), segments_.lower_bound(oldest / k_segment_tokens));
  return result;
}

}  // namespace navtalk
