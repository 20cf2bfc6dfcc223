#include "server/worker/live/playout.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/check.h"
#include "server/worker/live/sound_cut.h"

namespace navtalk::server {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr auto k_past = 4s;      // what the lips remember
constexpr auto k_ahead = 400ms;  // more than lips can use
constexpr std::int64_t k_most_waiting_s = 120;
constexpr auto k_pause = 200ms;       // without sound: no more is expected
constexpr double k_silent_rms = 184;  // -45 dBFS
// Silence that is left out at once; how both sides of it pass into each other; what must be silent before and after.
constexpr auto k_cut = 20ms, k_fade = 5ms;
constexpr auto k_silent_before = 150ms, k_silent_after = 80ms, k_silence_step = 10ms;
// Where there is no silence: from this excess on, sound is left out where both sides of the seam are alike, and from the
// larger one on wherever they are most alike. How much at once, and the seam.
constexpr auto k_excess = 60ms, k_large_excess = 120ms;
constexpr auto k_least_cut = 4ms, k_most_cut = 20ms, k_seam = 10ms;
constexpr double k_alike = 0.9;

bool is_loud(std::deque<std::int16_t>::const_iterator begin,
             std::deque<std::int16_t>::const_iterator end) {
  double sum = 0;
  for (auto sample = begin; sample != end; ++sample) sum += static_cast<double>(*sample) * *sample;
  return sum > k_silent_rms * k_silent_rms * static_cast<double>(std::distance(begin, end));
}

// In each of its steps: a short sound is not lost in the silence around it.
bool is_silent(const std::deque<std::int16_t>& sound, std::size_t begin, std::size_t end,
               std::size_t step) {
  for (std::size_t at = begin; at < end; at += step) {
    const auto from = sound.begin() + static_cast<std::ptrdiff_t>(at);
    if (is_loud(from, from + static_cast<std::ptrdiff_t>(std::min(step, end - at)))) return false;
  }
  return true;
}

}  // namespace

Playout::Playout(int rate_hz, microseconds clock) : rate_hz_(rate_hz), time_(clock) {
  NAVTALK_CHECK(rate_hz >= k_least_rate_hz && rate_hz <= k_largest_rate_hz);
}

std::int64_t Playout::sample_at(microseconds time) const {
  return time.count() * rate_hz_ / 1'000'000;
}

std::size_t Playout::samples_of(microseconds length) const {
  return static_cast<std::size_t>(sample_at(length));
}

std::chrono::milliseconds Playout::waiting() const {
  return std::chrono::milliseconds(waiting_.size() * 1000 / static_cast<std::size_t>(rate_hz_));
}

std::size_t Playout::room() const {
  return static_cast<std::size_t>(rate_hz_ * k_most_waiting_s) - waiting_.size();
}

bool Playout::hear(std::span<const std::int16_t> samples, Clock::time_point now) {
  if (samples.size() > room()) return false;
  waiting_.insert(waiting_.end(), samples.begin(), samples.end());
  last_heard_ = now;
  closed_ = false;
  return true;
}

void Playout::interrupt() {
  waiting_.clear();
  playing_ = false;
  closed_ = false;
  drift_.restart();
  interrupted_ = true;
  gap_ = true;
}

// How many samples the next slot plays of what waits. At its beginning an utterance gives as many as leave the
// lips enough to hear.
std::size_t Playout::playable(Clock::time_point now, std::size_t own) const {
  if (paused_) return 0;
  if (closed_ || now - last_heard_ >= k_pause) return std::min(waiting_.size(), own);
  if (playing_) return waiting_.size() >= own ? own : 0;
  const std::size_t ahead = samples_of(k_look_ahead);
  return waiting_.size() > ahead ? std::min(waiting_.size() - ahead, own) : 0;
}

PlayedSlot Playout::next(Clock::time_point now, microseconds length) {
  PlayedSlot slot{.time = time_,
                  .length = length,
                  .sound_time = time_,
                  .interrupted = std::exchange(interrupted_, false)};
  own_ = static_cast<std::size_t>(sample_at(time_ + length) - sample_at(time_));
  slot.left_out = shorten();
  const std::size_t count = playable(now, own_);
  const bool was_playing = std::exchange(playing_, count > 0);
  std::size_t silent_before = 0;
  if (playing_) {
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    slot.sound.assign(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    slot.discontinuity = std::exchange(gap_, false) || !was_playing;
    // A beginning stands at the end of its slot, an end at the beginning.
    if (!was_playing && !waiting_.empty()) silent_before = own_ - count;
    slot.sound_time +=
        microseconds(static_cast<std::int64_t>(silent_before) * 1'000'000 / rate_hz_);
  }
  remember(slot, silent_before);
  time_ += length;
  return slot;
}

microseconds Playout::shorten() {
  if (!playing_ || paused_ || closed_) {
    drift_.restart();
    return {};
  }
  drift_.note(time_, microseconds(std::ssize(waiting_) * 1'000'000 / rate_hz_));
  if (drift_.excess() < k_cut) return {};
  // The slot and what the lips hear ahead are left, and more than is looked at.
  if (waiting_.size() <
      samples_of(k_cut) + std::max(own_, samples_of(k_seam)) + samples_of(k_look_ahead))
    return {};
  microseconds cut = shorten_silence();
  if (cut == 0us && drift_.excess() >= k_excess) cut = shorten_sound();
  drift_.remove(cut);
  return cut;
}

microseconds Playout::shorten_silence() {
  const std::size_t cut = samples_of(k_cut), fade = samples_of(k_fade);
  const std::size_t before = samples_of(k_silent_before), after = samples_of(k_silent_after);
  const std::size_t step = samples_of(k_silence_step);
  if (waiting_.size() < cut + fade + after || past_.size() < before ||
      !is_silent(past_, past_.size() - before, past_.size(), step) ||
      !is_silent(waiting_, 0, cut + fade + after, step))
    return {};
  cut_front(waiting_, cut, fade);
  return k_cut;
}

microseconds Playout::shorten_sound() {
  const std::size_t seam = samples_of(k_seam);
  const SoundCut cut =
      best_cut(waiting_, samples_of(k_least_cut), samples_of(k_most_cut), seam, rate_hz_);
  if (cut.likeness < k_alike && drift_.excess() < k_large_excess) return {};
  cut_front(waiting_, cut.length, seam);
  return microseconds(static_cast<std::int64_t>(cut.length) * 1'000'000 / rate_hz_);
}

void Playout::remember(const PlayedSlot& slot, std::size_t silent_before) {
  past_.insert(past_.end(), silent_before, 0);
  past_.insert(past_.end(), slot.sound.begin(), slot.sound.end());
  past_.insert(past_.end(), own_ - silent_before - slot.sound.size(), 0);
  const microseconds begin = std::max<microseconds>(0us, slot.time - k_past);
  const std::int64_t kept = sample_at(slot.time + slot.length) - sample_at(begin);
  if (std::ssize(past_) > kept) past_.erase(past_.begin(), past_.end() - kept);
}

std::vector<std::int16_t> Playout::near() const {
  const std::size_t ahead = playing_ ? std::min(waiting_.size(), samples_of(k_look_ahead)) : 0;
  std::vector<std::int16_t> sound(past_.end() - static_cast<std::ptrdiff_t>(own_), past_.end());
  sound.insert(sound.end(), waiting_.begin(),
               waiting_.begin() + static_cast<std::ptrdiff_t>(ahead));
  return sound;
}

SoundWindow Playout::sound() const {
  const std::size_t ahead = playing_ ? std::min(waiting_.size(), samples_of(k_ahead)) : 0;
  SoundWindow window{.first = past_.size() - own_,
                     .rate_hz = rate_hz_,
                     .begin = sample_at(time_) - static_cast<std::int64_t>(past_.size())};
  window.samples.assign(past_.begin(), past_.end());
  window.samples.insert(window.samples.end(), waiting_.begin(),
                        waiting_.begin() + static_cast<std::ptrdiff_t>(ahead));
  return window;
}

}  // namespace navtalk::server
