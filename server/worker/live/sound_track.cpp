#include "server/worker/live/sound_track.h"

#include <algorithm>
#include <span>
#include <utility>

#include "server/protocol/media_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::microseconds;

namespace {

constexpr std::chrono::milliseconds k_longest_sound = 40ms;  // of one frame of PCM
// Parts that wait for the encoder: ten seconds of them.
constexpr std::size_t k_most_parts = 250;

}  // namespace

SoundTrack::SoundTrack(const asio::any_io_executor& executor, WebSocket& socket,
                       BlockingThreads& encoders, std::shared_ptr<LiveAvatar> avatar,
                       Options options)
    : socket_(socket),
      encoders_(encoders),
      avatar_(std::move(avatar)),
      options_(options),
      some_came_(executor),
      sequence_(options.sequence),
      lost_(options.sequence > 0) {}

void SoundTrack::play(const PlayedSlot& slot) {
  if (!options_.opus) return send_pcm(slot);
  const bool continues = playing_ && !slot.sound.empty() && !slot.discontinuity;
  if (playing_ && !continues) {
    if (parts_.empty()) parts_.push_back({});
    parts_.back().ends = true;
  }
  playing_ = !slot.sound.empty();
  if (playing_ && parts_.size() < k_most_parts) {
    parts_.push_back({.samples = slot.sound,
                      .time = slot.sound_time,
                      .speaks = slot.speaks,
                      .begins = !continues});
  } else if (playing_) {
    lost_ = true;
  }
  some_came_.notify();
}

void SoundTrack::send_pcm(const PlayedSlot& slot) {
  const auto longest = static_cast<std::size_t>(options_.rate_hz * k_longest_sound / 1s);
  microseconds time = slot.sound_time;
  std::span<const std::int16_t> rest = slot.sound;
  for (bool begins = slot.discontinuity; !rest.empty(); begins = false) {
    const auto part = rest.first(std::min(longest, rest.size()));
    send(bytes_of(part), time, slot.speaks, begins);
    rest = rest.subspan(part.size());
    time += k_longest_sound;
  }
}

void SoundTrack::send(std::string_view content, microseconds time, bool speaks, bool begins) {
  MediaHeader header{.kind = options_.opus ? MediaKind::opus : MediaKind::pcm,
                     .sequence = sequence_++,
                     .time = time};
  if (speaks) header.flags |= media_flag::speaks;
  if (begins || lost_) header.flags |= media_flag::discontinuity;
  lost_ = !socket_.offer(media_frame(header, content));
}

void SoundTrack::interrupt() {
  if (parts_.empty()) return;
  parts_.clear();
  parts_.push_back({.ends = true});  // of what is coded already
}

void SoundTrack::stop() {
  stopped_ = true;
  some_came_.notify();
}

asio::awaitable<void> SoundTrack::run() {
  while (!stopped_) {
    if (parts_.empty()) {
      co_await some_came_.wait();
      continue;
    }
    const auto part = std::make_shared<const Part>(std::move(parts_.front()));
    parts_.pop_front();
    if (part->begins) {
      sound_time_ = part->time;
      begins_ = true;
    }
    auto work = [avatar = avatar_, part, rate = options_.rate_hz] {
      return avatar->code_sound(part->samples, rate, part->ends);
    };
    const std::vector<CodedSound> coded = co_await encoders_.run(std::move(work));
    for (const CodedSound& one : coded) {
      send(one.bytes, sound_time_ + one.after, part->speaks, std::exchange(begins_, false));
    }
  }
}

}  // namespace navtalk::server
