// A picture with a little life: the head sways as that of someone who stands and breathes, and the eyes blink. What the
// pictures show comes from the still alone, so a clip of them goes round without a seam. The mouth moves with the head.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "avatars/faces/eyes.h"
#include "core/base/frame_rate.h"
#include "core/tensor/image.h"

namespace navtalk {

enum class StillMotionKind { blink_and_sway, sway };

// One thread at a time.
class StillMotion {
 public:
  // `still`: [H,W,3] BGR, with `face` in it. `directories`, `landmarks`: as find_eyes(). Error{not_found} without cascade files
  // where blinks are asked for.
  StillMotion(Image still, const Box& face, const FrameRate& fps, StillMotionKind kind,
              const std::vector<std::filesystem::path>& directories,
              const FacePoints& landmarks = {});

  std::int64_t frame_count() const { return frames_; }  // of one round, about 12 s
  // False where blinks are asked for and no eyes were found.
  bool blinks() const { return eyes_.has_value(); }
  // The first is the still itself.
  Image frame(std::int64_t index) const;
  // In that frame. Of the size of the face given, and inside the picture.
  Box face(std::int64_t index) const;
  // In that frame; none where none were given.
  FacePoints landmarks(std::int64_t index) const;

 private:
  Image still_;
  Box face_;
  FrameRate fps_;
  std::int64_t frames_;
  FacePoints landmarks_;
  std::optional<Eyes> eyes_{};
};

}  // namespace navtalk
