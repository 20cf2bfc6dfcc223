// Where rendered frames go: a video file, standard output, a folder of PNGs (with the sound beside
// them, or without), or a video and a folder. Files and folders appear whole or not at all. Private
// to the command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cmd/render_module/infer/output_target.h"
#include "cmd/render_module/infer/segment_writer.h"
#include "core/base/frame_rate.h"
#include "core/files/partial_path.h"
#include "core/media/encode/video_writer.h"
#include "core/media/subtitle_painter.h"
#include "core/speech/subtitles.h"
#include "core/tensor/image.h"

namespace navtalk::cmd {

struct RenderedVideo {
  std::optional<std::filesystem::path> file, frames_directory, subtitles;
  std::int64_t frames = 0;
  std::int64_t rendered = 0;   // of the frames; the others stood in finished segments
  bool lacks_letters = false;  // of burnt subtitles, in every font of the system
};

// Error{invalid} for a speech that is too long for the format.
void refuse_long(const VideoFormat& format, double duration_s);

class InferOutput {
 public:
  struct Options {
    OutputTarget target{};
    std::filesystem::path frames{};  // empty: not wanted
    bool force = false;
    PictureSize size{};  // 0: the avatar's
    std::optional<double> crf{};
    int kbit_per_s = 0;
    std::string subtitles{};  // srt, vtt or burn; empty: none
  };
  // Refuses what cannot be written before any work is done.
  explicit InferOutput(const Options& options);

  struct Content {
    int width = 0, height = 0;  // of the frames that come
    FrameRate fps = 25;
    std::filesystem::path audio{};
    double audio_start_s = 0, duration_s = 0;
    bool nv12 = false;     // all frames, where takes_nv12(); else BGR
    MediaLimits limits{};  // of the audio
    std::vector<Cue> cues{};
    // The video is written in segments, where they can be joined: H.264 in a file.
    std::optional<SegmentWork> segments{};
    std::string device{};  // with `segments`: for their records (cmd/job/renderer_on_cpu.h)
    std::int64_t frames = 0, segment_frames = 0;  // with `segments`: of the video, of one segment
  };
  // Pictures of that size may come as NV12: no PNGs are wanted, they are neither scaled nor painted on, and the format codes 4:2:0.
  bool takes_nv12(int width, int height) const;
  void start(const Content& content);
  // The frames that write() has to get, in order.
  std::vector<FrameRange> wanted() const;
  void write(std::int64_t t, const RenderedPicture& picture);
  // Called with where the whole output stands, before it gets its own name; what it throws leaves no
  // output.
  using BeforeCommit = std::function<void(const std::filesystem::path& whole)>;
  RenderedVideo finish(const std::stop_token& stop, const BeforeCommit& before_commit = {});

 private:
  template <class Work>
  void with_names(const Work& work);  // in the errors of it
  ConstImageView scaled(ConstImageView bgr);
  ConstImageView painted(std::int64_t t, ConstImageView bgr);
  void write_video(std::int64_t t, const RenderedPicture& picture);
  void open_video();
  void write_subtitles();

  Options options_;
  Content content_;
  std::optional<PartialPath> file_, frames_, subtitles_;
  std::optional<SubtitlePainter> painter_;
  std::unique_ptr<VideoWriter> writer_;
  std::optional<SegmentWriter> segments_;
  Image scaled_, painted_;
  std::int64_t count_ = 0;  // of frames up to the last one written
  std::int64_t written_ = 0;
};

}  // namespace navtalk::cmd
