// Which of an avatar's frames is shown when: by time, whatever the video's rate. A clip that was made
// to loop goes round, every other plays forwards, backwards, and again, so that it never jumps.
#pragma once

#include <cstdint>

#include "avatars/bundle/avatar_info.h"

namespace navtalk {

// Index into n > 0 frames for output frame t >= 0: 0..n-1, n-1..0, and again; the ends show twice,
// as in MuseTalk.
constexpr std::int64_t ping_pong(std::int64_t t, std::int64_t n) {
  const std::int64_t slot = t % (2 * n);
  return slot < n ? slot : 2 * n - 1 - slot;
}

// The same for an avatar; loop: its last frame leads to its first.
constexpr std::int64_t shown_frame(std::int64_t t, std::int64_t n, bool loop) {
  return loop ? t % n : ping_pong(t, n);
}

// The avatar's frame that picture t >= 0 of a video at `fps` shows: the one that stands at the time
// when the picture begins.
// An avatar with several clips shows the one for speech.
inline std::int64_t shown_frame(const AvatarInfo& avatar, const FrameRate& fps, std::int64_t t) {
  const AvatarClip clip = speaking_clip(avatar);
  return clip.first + shown_frame(avatar.fps.frame_at(fps.time_of(t)), clip.frames, clip.loop);
}

}  // namespace navtalk
