// MP4 out: H.264 (libx264, yuv420p, BT.709 tags, constant frame rate, PTS = t/fps) and, with
// `audio`, AAC encoded from that file's own audio at its own rate and channels. The index stands in
// front (faststart). Odd sizes are padded to even ones by repeating the edge. One thread owns a
// writer; encoding runs on a thread of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/frame_rate.h"
#include "core/tensor/image.h"

namespace navtalk {

struct Mp4Options {
  std::filesystem::path path = {};  // written in place: give a PartialPath's path()
  int width = 0, height = 0;
  FrameRate fps = 25;
  std::optional<std::filesystem::path> audio =
      {};  // cut or padded to the video's length at finish()
  int crf = 18;
  const char* preset = "veryfast";
  int threads = 0;  // x264's; 0 lets it choose
};

class Mp4Writer {
 public:
  explicit Mp4Writer(Mp4Options options);
  ~Mp4Writer();  // without finish(): the file stays incomplete, the caller removes it
  Mp4Writer(const Mp4Writer&) = delete;
  Mp4Writer& operator=(const Mp4Writer&) = delete;

  // Frame t is shown from t/fps; copies the BGR picture, which must have the options' size.
  // Error{failed} with the system's reason when writing fails (disk full), at this call or a later
  // one.
  void write(ConstImageView bgr);
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
