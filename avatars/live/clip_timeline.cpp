#include "avatars/live/clip_timeline.h"

#include <algorithm>

#include "avatars/bundle/playback.h"

namespace navtalk {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

// A pause between two sentences is speech.
constexpr auto k_speech_pause = 800ms;
// How far ahead a matching frame is looked for; waiting for all of it is as bad as so many grey levels of difference.
constexpr double k_search_s = 1;
constexpr float k_cost_of_waiting = 1;
// Both clips are seen for so long.
constexpr microseconds k_fade = 200ms;
// An action is left in its last part, up to half a second.
constexpr std::int64_t k_parts = 4;

}  // namespace

ClipTimeline::ClipTimeline(const AvatarInfo& avatar, const Transitions* transitions)
    : fps_(avatar.fps),
      clips_(avatar.clips.empty() ? std::vector{speaking_clip(avatar)} : avatar.clips),
      transitions_(transitions),
      silence_(find_clip(clips_, k_idle_clip).value_or(0)) {
  now_.clip = silence_;
}

std::int64_t ClipTimeline::frame_of(const Playing& playing, std::int64_t tick) const {
  const AvatarClip& clip = clips_[playing.clip];
  const std::int64_t t = tick - playing.since + playing.entry;
  if (is_action(playing.clip)) return clip.first + std::min(t, clip.frames - 1);
  return clip.first + shown_frame(t, clip.frames, clip.loop);
}

bool ClipTimeline::is_action(std::size_t clip) const { return !is_state(clips_[clip].name); }

std::int64_t ClipTimeline::end_of(const Playing& playing) const {
  return playing.since + clips_[playing.clip].frames - 1 - playing.entry;
}

std::size_t ClipTimeline::wanted(microseconds time, bool speaks) {
  if (speaks) speech_end_ = time + k_speech_pause;
  if (asked_) return *asked_;
  return speech_end_ && time < *speech_end_ ? 0 : silence_;
}

ClipTimeline::Plan ClipTimeline::plan(std::size_t clip, std::int64_t tick) const {
  const auto search = std::max<std::int64_t>(1, static_cast<std::int64_t>(fps_.hz() * k_search_s));
  std::int64_t first = tick, last = tick + search;
  float cost_of_waiting = k_cost_of_waiting / static_cast<float>(search);
  if (is_action(now_.clip)) {
    const std::int64_t frames = clips_[now_.clip].frames;
    last = std::max(tick, end_of(now_));
    first = std::max(tick, last - std::min(frames / k_parts, search / 2));
    cost_of_waiting = 0;
  }
  Plan best{.clip = clip, .tick = first};
  float least = -1;
  for (std::int64_t at = first; at <= last; ++at) {
    const Transition& into = transitions_->into(clip, frame_of(now_, at));
    const float cost = into.difference + cost_of_waiting * static_cast<float>(at - first);
    if (least >= 0 && cost >= least) continue;
    least = cost;
    best = {.clip = clip, .tick = at, .entry = into.entry - clips_[clip].first};
  }
  return best;
}

void ClipTimeline::enter(const Plan& plan, std::int64_t tick, microseconds time) {
  before_ = now_;
  fading_since_ = time;
  // A picture that was left out does not shift the clip. After a stretch without pictures it begins now.
  const bool late = fps_.seconds(tick - plan.tick) > k_search_s / 2;
  now_ = {.clip = plan.clip, .since = late ? tick : plan.tick, .entry = plan.entry};
  if (asked_ == plan.clip) asked_.reset();
}

ClipFrame ClipTimeline::at(microseconds time, bool speaks) {
  const std::int64_t tick = fps_.frame_at(time);
  const std::size_t next = wanted(time, speaks);
  if (before_ && time - fading_since_ >= k_fade) {
    before_.reset();  // a picture of one clip follows
  } else if (next == now_.clip) {
    plan_.reset();
  } else if (!before_) {
    if (!plan_ || plan_->clip != next) plan_ = plan(next, tick);
    if (tick >= plan_->tick) {
      enter(*plan_, tick, time);
      plan_.reset();
    }
  }
  ClipFrame shown{.index = frame_of(now_, tick)};
  if (before_) {
    // The first picture has some of both, and the one after the last is the new clip's alone.
    const microseconds step = k_fade / 5;
    shown.before = frame_of(*before_, tick);
    shown.weight = std::min(1.0F, static_cast<float>((time - fading_since_ + step).count()) /
                                      static_cast<float>((k_fade + step).count()));
  }
  return shown;
}

bool ClipTimeline::play(std::string_view clip) {
  const std::optional<std::size_t> found = find_clip(clips_, clip);
  if (clip == k_speaking_clip) return false;
  if (is_state(clip)) {
    // Without a clip for listening silence shows what it has.
    silence_ = found.value_or(find_clip(clips_, k_idle_clip).value_or(0));
    return true;
  }
  if (found && now_.clip != *found) asked_ = found;
  return found.has_value();
}

std::optional<std::string> ClipTimeline::action() const {
  if (!is_action(now_.clip)) return std::nullopt;
  return clips_[now_.clip].name;
}

}  // namespace navtalk
