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
  std::vector<std::string> clips;    // names of the other clips, empty without any
  std::string still_motion;          // empty without it
  bool lossless = false;
};

class PreparationState {
 public:
  // Takes up what lies in `folder` when its key is equal, else empties the folder. Error{failed}.
  PreparationState(const std::filesystem::path& folder, const PreparationKey& key);

  // What the finished frames.mp4 holds: the size of its pictures, and how many each of its clips has (empty: it is one);
  // nullopt until it is finished.
  const std::optional<JoinedClips>& clip() const { return clip_; }
  void clip_done(JoinedClips clip);
  void remove();  // the bundle is complete

 private:
  void write() const;

  std::filesystem::path file_;
  std::string key_;
  std::optional<JoinedClips> clip_;
};

}  // namespace navtalk
