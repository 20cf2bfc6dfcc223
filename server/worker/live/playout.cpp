#include "server/worker/live/playout.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/check.h"

namespace navtalk::server {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t k_slots_per_s = 25;
constexpr std::int64_t k_past_slots = 4 * k_slots_per_s;  // what the lips remember
constexpr std::int64_t k_start_slots = 3;   // one to play and two that the lips hear ahead
constexpr std::int64_t k_ahead_slots = 10;  // more than lips can use
constexpr std::int64_t k_most_waiting_s = 120;
constexpr auto k_pause = 200ms;               // without sound: no more is expected
constexpr std::int64_t k_hangover_slots = 8;  // of speech, over the gaps between words
constexpr float k_lips_step = 1.0F / 3;       // per slot: opening and closing take 120 ms
constexpr double k_voice_rms = 184;           // -45 dBFS

bool has_voice(std::deque<std::int16_t>::const_iterator begin,
               std::deque<std::int16_t>::const_iterator end) {
  if (begin == end) return false;
  double sum = 0;
  for (auto sample = begin; sample != end; ++sample) sum += static_cast<double>(*sample) * *sample;
  return sum > k_voice_rms * k_voice_rms * static_cast<double>(std::distance(begin, end));
}

}  // namespace

Playout::Playout(int rate_hz) : rate_hz_(rate_hz) {
  NAVTALK_CHECK(rate_hz >= k_least_rate_hz && rate_hz <= k_largest_rate_hz);
}

std::size_t Playout::begin_of(std::int64_t slot) const {
  return static_cast<std::size_t>(slot * rate_hz_ / k_slots_per_s);
}

std::chrono::milliseconds Playout::waiting() const {
  return std::chrono::milliseconds(waiting_.size() * 1000 / static_cast<std::size_t>(rate_hz_));
}

bool Playout::hear(std::span<const std::int16_t> samples, Clock::time_point now) {
  const std::size_t most = static_cast<std::size_t>(rate_hz_ * k_most_waiting_s);
  if (waiting_.size() + samples.size() > most) return false;
  waiting_.insert(waiting_.end(), samples.begin(), samples.end());
  last_heard_ = now;
  closed_ = false;
  return true;
}

void Playout::interrupt() {
  waiting_.clear();
  playing_ = false;
  closed_ = false;
  interrupted_ = true;
  gap_ = true;
  voice_until_ = number_ - 1;
}

bool Playout::begins_or_goes_on(Clock::time_point now) {
  if (waiting_.empty()) return false;
  if (closed_ || now - last_heard_ >= k_pause) return true;
  const std::int64_t wanted = playing_ ? 1 : k_start_slots;
  return waiting_.size() >= begin_of(number_ + wanted) - begin_of(number_);
}

PlayedSlot Playout::next(Clock::time_point now) {
  PlayedSlot slot{.number = number_, .interrupted = std::exchange(interrupted_, false)};
  const std::size_t own = samples_of(number_);
  const bool was_playing = playing_;
  playing_ = begins_or_goes_on(now);
  if (playing_) {
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(own, waiting_.size()));
    slot.sound.assign(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    slot.discontinuity = std::exchange(gap_, false) || !was_playing;
  }
  remember(slot);
  move_lips(slot, own);
  ++number_;
  return slot;
}

void Playout::remember(const PlayedSlot& slot) {
  own_ = samples_of(slot.number);
  past_.insert(past_.end(), slot.sound.begin(), slot.sound.end());
  past_.insert(past_.end(), own_ - slot.sound.size(), 0);
  const std::size_t kept =
      begin_of(slot.number + 1) - begin_of(std::max<std::int64_t>(0, slot.number - k_past_slots));
  past_.erase(past_.begin(), past_.begin() + static_cast<std::ptrdiff_t>(past_.size() - kept));
}

// Voice in the slot's own sound or in the two that follow, if they are played.
bool Playout::voice_soon(std::size_t own) const {
  if (has_voice(past_.end() - static_cast<std::ptrdiff_t>(own), past_.end())) return true;
  if (!playing_) return false;
  const std::size_t near = std::min(waiting_.size(), 2 * own);
  return has_voice(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(near));
}

void Playout::move_lips(PlayedSlot& slot, std::size_t own) {
  if (voice_soon(own)) voice_until_ = slot.number + k_hangover_slots;
  const bool speaks = slot.number <= voice_until_;
  slot.speech_starts = speaks && !speaks_;
  slot.speech_ends = !speaks && speaks_;
  slot.speaks = speaks_ = speaks;
  lips_ = std::clamp(lips_ + (speaks ? k_lips_step : -k_lips_step), 0.0F, 1.0F);
  if (lips_ < k_lips_step / 2) lips_ = 0;
  slot.lips = lips_;
}

void Playout::put_sound(LivePicture& picture) const {
  const std::size_t ahead = playing_ ? std::min(waiting_.size(), begin_of(k_ahead_slots)) : 0;
  picture.sound.assign(past_.begin(), past_.end());
  picture.sound.insert(picture.sound.end(), waiting_.begin(),
                       waiting_.begin() + static_cast<std::ptrdiff_t>(ahead));
  picture.first = past_.size() - own_;
  picture.rate_hz = rate_hz_;
}

}  // namespace navtalk::server
