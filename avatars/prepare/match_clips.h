// Where an avatar's clips meet: which pictures of theirs are alike, so that a session passes from one clip to another
// without a jump. Pictures are compared small and in grey, half by the whole picture and half by the region in which the
// face is, and together with the pictures that follow while both clips are seen, so that a movement goes on.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/clip.h"
#include "avatars/bundle/faces.h"
#include "avatars/bundle/transitions.h"
#include "core/base/progress.h"

namespace navtalk {

// How many frames at the start of a clip it may be entered at, and at its end left at: all of a state's; of an action's
// a quarter, up to half a second, so that it is seen whole.
std::int64_t open_frames(const AvatarClip& clip, const FrameRate& fps);

// Of all frames into each of `info.clips`. The clips of states but the first one, "speaking", get `loop` where their last
// picture leads to their first as smoothly as they move elsewhere. Stage "matching".
Transitions match_clips(Clip& pictures, const Faces& faces, AvatarInfo& info,
                        const Progress& progress, const std::stop_token& stop);

// Clips that a session cannot enter without a jump, as of another person, in another place or light: from `speaking` they are more
// than 12 grey levels away also where they fit best. (Two parts of one recording were 1 and 3 apart there, the same in another light 14, a
// face a tenth larger 43, two people 71 to 103.)
struct UnlikeClip {
  std::string name;
  double difference;  // where it fits best
};
std::vector<UnlikeClip> unlike_clips(const Transitions& transitions, const AvatarInfo& info);

}  // namespace navtalk
