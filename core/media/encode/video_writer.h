// Video out, in each VideoFormat: a constant frame rate, PTS = t/fps; and with `audio` that file's own
// sound at its own rate and channels, where the format has sound. H.264 and VP9 are yuv420p with
// BT.709 tags, and odd sizes are padded to even ones by repeating the edge. The index of MP4 and MOV
// stands in front. One thread owns a writer; encoding runs on a thread of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/frame_rate.h"
#include "core/media/encode/video_format.h"
#include "core/media/limits.h"
#include "core/tensor/image.h"
#include "core/tensor/nv12_view.h"

namespace navtalk {

inline constexpr double k_h264_crf = 18;

struct VideoOptions {
  std::filesystem::path path = {};  // written in place: give a PartialPath's path()
  const VideoFormat* format = &mp4_format();
  // To standard output instead of `path`: fragments of half a second (MP4 only).
  bool to_standard_output = false;
  int width = 0, height = 0;
  // Pictures come as NV12: H.264 and VP9 of even sides, without `lossless_rgb`. The video says that its chroma lies in the middle of 2x2
  // pixels, and of BGR pictures that it lies left of them.
  bool nv12 = false;
  FrameRate fps = 25;
  std::optional<std::filesystem::path> audio =
      {};                    // cut or padded to the video's length at finish()
  double audio_start_s = 0;  // where in it the video begins
  MediaLimits audio_limits{};
  std::optional<double> crf{};  // constant quality, lower is better: 0 to 51 of H.264, to 63 of VP9
  int kbit_per_s = 0;           // the average of H.264 and VP9 instead; 0: constant quality
  // H.264 in RGB whose pictures come back as they were, of any size, for IndexedVideo; most players
  // do not show it. Then `crf` and `kbit_per_s` mean nothing.
  bool lossless_rgb = false;
  int key_interval =
      0;  // H.264's pictures at most from one key frame to the next; 0: libx264's own
  const char* preset = "veryfast";  // libx264's
  int lookahead = 0;  // pictures that libx264 keeps to plan with; 0: those of the preset
  int threads = 0;    // of the encoder; 0 lets it choose
  // H.264 whose key frames are coded with the pictures around them. The step that shows at a closed
  // group's first picture does not; but decoding at random starts a few pictures later.
  bool open_groups = false;
};

class VideoWriter {
 public:
  // Error{invalid} for a size, a rate or a length that the format has not, Error{failed} when the
  // file cannot be written.
  explicit VideoWriter(VideoOptions options);
  ~VideoWriter();  // without finish(): the file stays incomplete, the caller removes it
  VideoWriter(const VideoWriter&) = delete;
  VideoWriter& operator=(const VideoWriter&) = delete;

  // Frame t is shown from t/fps; copies the BGR picture, which must have the options' size.
  // Error{failed} with the system's reason when writing fails (disk full), at this call or a later
  // one.
  void write(ConstImageView bgr);
  void write(const Nv12View& picture);  // with VideoOptions::nv12, and only then
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
