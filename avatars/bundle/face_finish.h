// What an avatar wants done to its generated faces before they are blended into its frames.
#pragma once

#include <optional>

#include "avatars/bundle/avatar_info.h"
#include "gpu/image/compose.h"

namespace navtalk {

// `sharpen`, `match_colour`: what somebody asked for instead of what the avatar says.
inline FaceFinish face_finish(const AvatarInfo& info, std::optional<double> sharpen = {},
                              std::optional<bool> match_colour = {}) {
  FaceFinish finish{.match_colour = match_colour.value_or(info.match_colour)};
  const double amount = sharpen.value_or(info.sharpen);
  if (amount > 0) finish.unsharp = Unsharp{.amount = static_cast<float>(amount)};
  return finish;
}

}  // namespace navtalk
