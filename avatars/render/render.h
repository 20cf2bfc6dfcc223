// Audio and an avatar to frames: the offline job, and the reference for the live one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include "avatars/bundle/bundle.h"
#include "core/base/frame_rate.h"
#include "core/base/progress.h"
#include "core/media/decode/audio.h"
#include "gpu/image/unsharp.h"
#include "gpu/model/model.h"

namespace navtalk {

struct RenderOptions {
  FrameRate fps = 25;  // of the video; the avatar's frames are shown at their own times
  int batch = 0;       // faces per pass through the nets; 0 chooses
  std::optional<Unsharp> unsharp;
};

// Frame t of `count`, BGR, in order; the picture is valid during the call.
using FrameSink = std::function<void(std::int64_t t, std::int64_t count, ConstImageView bgr)>;

// Renders frame_count(audio at 16 kHz, fps) frames. The same input gives the same pixels. The sink
// is called on the caller's thread; model and avatar.latent() are used on another one at the same
// time. Error{invalid} for audio shorter than one frame.
void render(Model& model, const Bundle& avatar, Audio audio, const RenderOptions& options,
            const FrameSink& sink, const std::stop_token& stop);

}  // namespace navtalk
