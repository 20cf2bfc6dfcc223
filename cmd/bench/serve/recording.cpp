#include "cmd/bench/serve/recording.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cmd/bench/serve/distribution.h"

namespace navtalk::cmd {
namespace {

using namespace std::chrono_literals;

constexpr auto k_window = 10s;
constexpr std::size_t k_least_of_window = 25;  // of sound and of pictures, for a median

double in_ms(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::chrono::microseconds length_of(std::uint64_t samples, int rate_hz) {
  return std::chrono::microseconds(samples * 1'000'000 / static_cast<std::uint64_t>(rate_hz));
}

std::chrono::microseconds period_of(const ReceivedPicture& picture) {
  return std::chrono::duration_cast<std::chrono::microseconds>(picture.fps.time_of(1));
}

// The element that holds a sample, at `from` or behind; `all` is sorted.
template <class Piece>
std::size_t holder_of(const std::vector<Piece>& all, std::uint64_t sample, std::size_t from) {
  while (from < all.size() && all[from].first + all[from].samples <= sample) ++from;
  return from;
}

// Of one window: arrival minus presentation time, in milliseconds, against a common start.
struct Lags {
  std::vector<float> sounds{}, pictures{};
};

std::map<std::int64_t, Lags> lags_of(const Recording& recording) {
  std::map<std::int64_t, Lags> windows;
  const SteadyTime start = recording.pictures.front().at;
  const auto add = [&](const auto& piece, std::vector<float> Lags::*kind) {
    Lags& window = windows[piece.time / std::chrono::microseconds(k_window)];
    (window.*kind).push_back(static_cast<float>(in_ms(piece.at - start - piece.time)));
  };
  for (const ReceivedSound& sound : recording.sounds) add(sound, &Lags::sounds);
  for (const ReceivedPicture& picture : recording.pictures) add(picture, &Lags::pictures);
  return windows;
}

}  // namespace

std::vector<float> latencies_ms(const Recording& recording) {
  const auto& [rate_hz, sent, sounds, pictures] = recording;
  std::vector<float> found;
  std::size_t message = 0, frame = 0, picture = 0;
  const std::uint64_t end = sounds.empty() ? 0 : sounds.back().first + sounds.back().samples;
  const auto step = static_cast<std::uint64_t>(std::max(rate_hz / 1000, 1));
  for (std::uint64_t sample = 0; sample < end; sample += step) {
    message = holder_of(sent, sample, message);
    frame = holder_of(sounds, sample, frame);
    if (message == sent.size() || frame == sounds.size()) break;
    if (sample < sounds[frame].first) continue;  // it was left out
    const auto time = sounds[frame].time + length_of(sample - sounds[frame].first, rate_hz);
    while (picture + 1 < pictures.size() && pictures[picture + 1].time <= time) ++picture;
    if (pictures.empty() || pictures[picture].time > time) continue;
    if (picture + 1 == pictures.size() &&
        time >= pictures[picture].time + period_of(pictures[picture]))
      break;
    found.push_back(static_cast<float>(in_ms(pictures[picture].at - sent[message].at)));
  }
  return found;
}

PictureFigures picture_figures(const Recording& recording) {
  const std::vector<ReceivedPicture>& pictures = recording.pictures;
  PictureFigures figures{.count = pictures.size()};
  std::map<std::int64_t, std::uint64_t> seconds;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    figures.bytes += pictures[i].bytes;
    figures.key += pictures[i].key ? 1 : 0;
    const auto since_first = pictures[i].at - pictures.front().at;
    ++seconds[std::chrono::floor<std::chrono::seconds>(since_first).count()];
    if (i == 0) continue;
    figures.longest_gap_ms =
        std::max(figures.longest_gap_ms, in_ms(pictures[i].at - pictures[i - 1].at));
    const double periods = std::chrono::duration<double>(pictures[i].time - pictures[i - 1].time) /
                           std::chrono::duration<double>(period_of(pictures[i - 1]));
    figures.left_out += static_cast<std::uint64_t>(std::max(0.0, std::round(periods) - 1));
  }
  if (pictures.size() < 2) return figures;
  const std::chrono::duration<double> all = pictures.back().at - pictures.front().at;
  if (all.count() > 0) figures.per_second = static_cast<double>(pictures.size() - 1) / all.count();
  const std::int64_t whole = std::chrono::floor<std::chrono::seconds>(all).count();
  for (std::int64_t second = 0; second < whole; ++second) {
    const std::uint64_t count = seconds[second];
    figures.worst_second = second == 0 ? count : std::min(figures.worst_second, count);
  }
  return figures;
}

SoundFigures sound_figures(const Recording& recording) {
  SoundFigures figures;
  for (const SentSound& message : recording.sent) figures.sent += message.samples;
  for (std::size_t i = 0; i < recording.sounds.size(); ++i) {
    const ReceivedSound& now = recording.sounds[i];
    figures.returned += now.samples;
    if (i == 0) continue;
    const ReceivedSound& before = recording.sounds[i - 1];
    const auto gap = now.time - before.time - length_of(before.samples, recording.rate_hz);
    if (gap <= 1ms) continue;  // frames begin on whole microseconds
    ++figures.pauses;
    figures.paused_ms += in_ms(gap);
  }
  return figures;
}

Sync sync_of(const Recording& recording) {
  Sync sync;
  if (recording.pictures.empty()) return sync;
  double first_fastest = 0;
  for (auto& [number, window] : lags_of(recording)) {
    if (std::min(window.sounds.size(), window.pictures.size()) < k_least_of_window) continue;
    const double apart = median_of(window.sounds) - median_of(window.pictures);
    const double fastest = *std::ranges::min_element(window.pictures);
    if (sync.windows++ == 0) {
      sync.first_ms = apart;
      first_fastest = fastest;
    }
    sync.last_ms = apart;
    sync.most_ms = std::max(sync.most_ms, std::abs(apart));
    sync.clock_ms = fastest - first_fastest;
  }
  return sync;
}

}  // namespace navtalk::cmd
