// From a video or pictures to a bundle: frames, faces, masks, latents. The same input and options
// give the same bytes.
//
//   source --> frames.mp4 --> face boxes --> masks --> latents --> avatar.json, rename
//   other clips ----^                         (several clips) transitions
//   a still that moves: its face is found first
//
// Everything after the first step works on frames.mp4, never on the source, so that latents made
// later from the bundle are those that preparation makes. Each finished step stays in
// OUTPUT.partial when the work is interrupted, and the same call goes on from there.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/latents/latents.h"
#include "avatars/faces/face_source.h"
#include "avatars/faces/mask_source.h"
#include "avatars/prepare/source_clip.h"
#include "avatars/prepare/still_motion.h"
#include "core/base/frame_rate.h"
#include "core/base/progress.h"

namespace navtalk {

// Of another state than speech, or an action.
struct OtherClip {
  std::string name;  // as avatars/bundle/avatar_clips.h allows
  ClipSource source;
};

struct PrepareOptions {
  ClipSource source;             // with other clips: the one for speech
  std::vector<OtherClip> clips;  // pictures of the same size
  std::filesystem::path output;
  std::string id;                     // empty: the output folder's name
  std::shared_ptr<FaceSource> faces;  // null: the built-in face finder
  std::shared_ptr<MaskSource> masks;  // null: the built-in mask, an ellipse
  FrameRate fps = 25;
  std::optional<StillMotionKind> still_motion;  // for a source of one picture, without other clips
  bool lossless = false;                        // frames.mp4 in RGB, as the source's pictures are
  bool loop = false;                            // the last frame of `source` leads to its first
  std::string voice;                            // espeak-ng's for this avatar; may be empty
  double sharpen = 0;                           // of generated faces; 0 to k_most_sharpening
  bool match_colour = false;                    // generated faces get the colours of their frames
  bool force = false;                           // replaces an avatar that stands at `output`
  std::optional<LatentOptions> latents;
  MediaLimits limits{};  // of the source
};

// Error{invalid} for input without a face, without a face of the number that is asked for,
// or unreadable; nothing stands at `output` then, and no partial work is left. Error{interrupted},
// Error{terminated} and Error{failed}, such as a full disk, leave the partial work.
AvatarInfo prepare(const PrepareOptions& options, const Progress& progress,
                   const std::stop_token& stop);

}  // namespace navtalk
