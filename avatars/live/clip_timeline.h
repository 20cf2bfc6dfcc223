// Which of an avatar's frames one live session shows at each time: the clip of its state, or an action, and how the
// session passes from one clip to another. It waits for a frame that matches the other clip, a second at most, and then
// both clips are seen, mixed, for a few pictures. Lips move in every clip, so nothing that is spoken waits.
//
//   silence: idle, or listening ──► speech: speaking ──► 0.8 s of silence: idle, or listening
//                   └── action, once, whole ──┘
//
// Plain values; one caller at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/transitions.h"
#include "gpu/engine/engine_backend.h"

namespace navtalk {

class ClipTimeline {
 public:
  // `transitions` outlives it; null for an avatar with one clip.
  ClipTimeline(const AvatarInfo& avatar, const Transitions* transitions);

  // At that time of the session, which is later than the last one.
  ClipFrame at(std::chrono::microseconds time, bool speaks);
  // Plays an action as soon as it can be entered, after the one that plays; "idle" and "listening" say what silence
  // shows. Of several that wait the last one counts, and the one that plays is not played again. False: the avatar has no such clip.
  bool play(std::string_view clip);
  // The action that is seen; nullopt: none is.
  std::optional<std::string> action() const;

 private:
  // A clip that plays: from `entry`, a frame of the clip, at that tick of the avatar's frame rate.
  struct Playing {
    std::size_t clip = 0;
    std::int64_t since = 0, entry = 0;
  };
  struct Plan {
    std::size_t clip = 0;
    std::int64_t tick = 0, entry = 0;
  };

  std::int64_t frame_of(const Playing& playing, std::int64_t tick) const;  // of frames.mp4
  bool is_action(std::size_t clip) const;
  std::int64_t end_of(const Playing& playing) const;  // of an action: the tick of its last frame
  std::size_t wanted(std::chrono::microseconds time, bool speaks);
  Plan plan(std::size_t clip, std::int64_t tick) const;
  void enter(const Plan& plan, std::int64_t tick, std::chrono::microseconds time);

  FrameRate fps_;
  std::vector<AvatarClip> clips_;
  const Transitions* transitions_;
  std::size_t silence_;  // the clip that silence shows
  Playing now_{};
  std::optional<Playing> before_{};  // that fades out
  std::chrono::microseconds fading_since_{};
  std::optional<Plan> plan_{};
  std::optional<std::size_t> asked_{};                     // action that waits
  std::optional<std::chrono::microseconds> speech_end_{};  // of the last speech and its pause
};

}  // namespace navtalk
