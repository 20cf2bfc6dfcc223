// A video in segments of about ten seconds, each a file of its own that is on the disk before it is
// recorded, and joined at the end. The segments depend on the video and its options alone: a rendering that
// was interrupted ends with the bytes of one that was not. One thread. Private to the command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "avatars/render/render.h"
#include "cmd/infer/video_renderer.h"
#include "core/files/partial_path.h"
#include "core/media/encode/video_writer.h"

namespace navtalk::cmd {

// Frames of a segment: ten seconds, rounded up to whole passes through the nets.
std::int64_t segment_frames(const FrameRate& fps, std::int64_t faces_per_pass);

class SegmentWriter {
 public:
  struct Options {
    SegmentWork work{};
    std::string device{};           // for the records (cmd/job/renderer_on_cpu.h)
    std::int64_t frames = 0;        // of a segment
    std::int64_t video_frames = 0;  // of all
    VideoOptions video{};           // its path is the joined video's
  };
  // Makes the folder, and looks at the segments that are recorded: one that is missing or changed, or came from the other kind of
  // device, is to be rendered again.
  explicit SegmentWriter(Options options);

  // What has to be written, in order.
  std::vector<FrameRange> missing() const;
  void write(std::int64_t t, const RenderedPicture& picture);
  // Joins the segments when all were written; returns the number of frames.
  std::int64_t finish(const std::stop_token& stop);

 private:
  struct Open {
    int index = 0;
    PartialPath file;
    std::unique_ptr<VideoWriter> writer{};
  };

  int count() const;
  FrameRange range(int index) const;
  std::filesystem::path path(int index) const;
  // As SegmentWork::records has it; nullopt: the file cannot be read.
  std::optional<std::string> record(int index) const;
  bool is_finished(int index) const;
  void open(int index);
  void close();

  Options options_;
  std::vector<std::string> made_;  // the records of the finished ones; empty: not finished
  std::optional<Open> open_;
};

}  // namespace navtalk::cmd
