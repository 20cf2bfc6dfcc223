// What an interrupted preparation left in its partial folder, and whether it is still good: the
// same source, options and model, told by prepare.json. Anything else is thrown away.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "avatars/prepare/source_clip.h"
#include "core/base/frame_rate.h"

namespace navtalk {

// Everything that the bundle's bytes depend on, but for its id.
struct PreparationKey {
  FrameRate fps = 25;
  std::vector<std::string> sources;  // SHA-256 of each file
  std::string faces;                 // FaceSource::identity()
  std::string masks;                 // MaskSource::identity(), empty for the built-in mask
  std::string model;                 // SHA-256 of the VAE, empty without latents
};

class PreparationState {
 public:
  // Takes up what lies in `folder` when its key is equal, else empties the folder. Error{failed}.
  PreparationState(const std::filesystem::path& folder, const PreparationKey& key);

  // The size of the pictures in the finished frames.mp4; nullopt until it is finished.
  const std::optional<ClipSize>& clip_size() const { return clip_size_; }
  void clip_done(ClipSize size);
  void remove();  // the bundle is complete

 private:
  void write() const;

  std::filesystem::path file_;
  std::string key_;
  std::optional<ClipSize> clip_size_;
};

}  // namespace navtalk
