// Audio and an avatar to frames: the offline job, and the reference for the live one.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <variant>
#include <vector>

#include "avatars/bundle/bundle.h"
#include "core/base/frame_rate.h"
#include "core/base/progress.h"
#include "core/media/decode/audio.h"
#include "core/tensor/image.h"
#include "core/tensor/ndarray.h"
#include "core/tensor/nv12_view.h"
#include "gpu/image/compose.h"
#include "gpu/model/model.h"

namespace navtalk {

// Frames [first, last) of a video.
struct FrameRange {
  std::int64_t first = 0, last = 0;
};

// UNet and decoder, as Model::faces(): latents [B,8,32,32] and windows [B,T,D] to faces [B,256,256,3].
using DrawFaces = std::function<NdArray<std::uint8_t>(const NdArray<float>& latents,
                                                      const NdArray<float>& windows)>;

struct RenderOptions {
  FrameRate fps = 25;  // of the video; the avatar's frames are shown at their own times
  int batch = 0;       // faces per pass through the nets; 0 chooses
  FaceFinish finish{};
  DrawFaces faces{};  // empty: the model's own
  // All pictures come as NV12, finished on the model's device; only where renders_on_device() says so, and without `faces`.
  bool on_device = false;
  // The frames that are wanted, in order; those behind the end are left out. A frame has the same pixels
  // whatever else is wanted if each range begins at a multiple of faces_per_pass().
  std::vector<FrameRange> wanted = {{0, std::numeric_limits<std::int64_t>::max()}};
};

// BGR, or NV12 with RenderOptions::on_device.
using RenderedPicture = std::variant<ConstImageView, Nv12View>;

// Frame t of `count`, in order; the picture is valid during the call.
using FrameSink =
    std::function<void(std::int64_t t, std::int64_t count, const RenderedPicture& picture)>;

// Of one pass through the nets, for RenderOptions::batch.
std::int64_t faces_per_pass(const Model& model, int batch);

// Whether the model's device can finish the pictures: from the nets to NV12 in the avatar's frame as it does for live sessions.
// Their chroma is the mean of 2x2 pixels.
bool renders_on_device(const Model& model, const AvatarInfo& avatar);

// Renders the wanted ones of frame_count(audio at 16 kHz, fps) frames. What a frame hears comes from all of
// the audio. The same input gives the same pixels. The sink
// is called on the caller's thread; model and avatar.latent(), and with `on_device` all of the avatar, are used on another one at the
// same time. Error{invalid} for audio shorter than one frame.
void render(Model& model, const Bundle& avatar, Audio audio, const RenderOptions& options,
            const FrameSink& sink, const std::stop_token& stop);

}  // namespace navtalk
