// Subtitles drawn into pictures, by libass with the system's fonts: white with a dark edge, at the
// bottom. One thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "core/speech/subtitles.h"
#include "core/tensor/image.h"

namespace navtalk {

class SubtitlePainter {
 public:
  // Pictures of this size, in pixels. Error{failed} when libass cannot start.
  SubtitlePainter(int width, int height, const std::vector<Cue>& cues);
  ~SubtitlePainter();
  SubtitlePainter(const SubtitlePainter&) = delete;
  SubtitlePainter& operator=(const SubtitlePainter&) = delete;

  // What is said at `time_s` into a BGR picture.
  void paint(ImageView bgr, double time_s);
  // Whether a letter that was painted is in no font of the system: boxes stand in its place.
  bool lacks_letters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
