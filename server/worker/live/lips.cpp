#include "server/worker/live/lips.h"

#include <algorithm>

namespace navtalk::server {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr auto k_hangover = 320ms;  // of speech, over the gaps between words
// What opening and closing the lips take, and closing them after an interruption.
constexpr microseconds k_move = 120ms, k_stop = 80ms;
constexpr float k_least = 0.1F;

}  // namespace

// The detector hears every sample once: what it knows ahead of a slot is the next slot's, less what was left out.
void Lips::hear(const PlayedSlot& slot, std::span<const std::int16_t> near) {
  const auto samples_of = [&](microseconds length) {
    return static_cast<std::size_t>(length.count() * rate_hz_ / 1'000'000);
  };
  const std::size_t known =
      std::min(near.size(), heard_ahead_ - std::min(heard_ahead_, samples_of(slot.left_out)));
  const auto fresh = near.subspan(known);
  detector_.hear(fresh);
  heard_ += std::ssize(fresh);
  const std::size_t own = samples_of(slot.time + slot.length) - samples_of(slot.time);
  heard_ahead_ = near.size() - std::min(near.size(), own);
  if (!detector_.last_speech()) return;
  // The end of `near` is where the detector's sound ends now.
  const microseconds end = slot.time + microseconds(std::ssize(near) * 1'000'000 / rate_hz_);
  const microseconds ago = microseconds(heard_ * 1'000'000 / rate_hz_) - *detector_.last_speech();
  speech_until_ = std::max(speech_until_, end - ago);
}

void Lips::follow(PlayedSlot& slot, std::span<const std::int16_t> near) {
  if (slot.interrupted) {
    detector_ = SpeechDetector(rate_hz_);
    heard_ = 0;
    heard_ahead_ = 0;
    speech_until_ = -1us;
    stilled_ = true;
  }
  hear(slot, near);
  const bool speaks = speech_until_ >= 0us && slot.time <= speech_until_ + k_hangover;
  slot.speech_starts = speaks && !speaks_;
  slot.speech_ends = !speaks && speaks_;
  slot.speaks = speaks_ = speaks;
  if (speaks) stilled_ = false;
  const microseconds whole = stilled_ ? k_stop : k_move;
  const float step = static_cast<float>(slot.length.count()) / static_cast<float>(whole.count());
  lips_ = std::clamp(lips_ + (speaks ? step : -step), 0.0F, 1.0F);
  if (lips_ < k_least) lips_ = 0;
  slot.lips = lips_;
}

}  // namespace navtalk::server
