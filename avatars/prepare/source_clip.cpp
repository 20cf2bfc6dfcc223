#include "avatars/prepare/source_clip.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "avatars/bundle/avatar_info.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/checkpoint/checkpoint.h"
#include "core/media/decode/indexed_video.h"
#include "core/media/decode/video_reader.h"
#include "core/media/encode/stream_copy.h"
#include "core/media/encode/video_writer.h"
#include "core/media/image_file.h"

namespace navtalk {
namespace {

// Encodes pictures that all have the size of the first.
class FrameWriter {
 public:
  FrameWriter(const std::filesystem::path& file, const FrameRate& fps) : file_(file), fps_(fps) {}

  // `name` says which picture it is, for messages.
  void write(const Image& image, const std::string& name) {
    if (!writer_) start(image, name);
    if (image.width != size_.width || image.height != size_.height)
      throw Error(Code::invalid,
                  fmt::format("the pictures differ in size: {} is {}x{}, {} is {}x{}", first_,
                              size_.width, size_.height, name, image.width, image.height));
    if (++count_ > k_max_avatar_frames)
      throw Error(Code::invalid, fmt::format("an avatar holds at most {} frames: give a shorter "
                                             "clip",
                                             k_max_avatar_frames));
    writer_->write(image.view());
  }

  ClipSize finish() {
    if (!writer_) throw Error(Code::invalid, "there is no frame in it");
    writer_->finish();
    return size_;
  }

 private:
  void start(const Image& image, const std::string& name) {
    if (image.width > k_max_frame_size || image.height > k_max_frame_size)
      throw Error(Code::invalid, fmt::format("{} is {}x{}: at most {} pixels a side are possible",
                                             name, image.width, image.height, k_max_frame_size));
    size_ = {image.width, image.height};
    first_ = name;
    // x264's output depends on its number of threads, so it must not follow the machine's.
    writer_.emplace(VideoOptions{.path = file_,
                                 .width = image.width,
                                 .height = image.height,
                                 .fps = fps_,
                                 .audio = std::nullopt,
                                 .crf = 12,
                                 .preset = "medium",
                                 .threads = 4});
  }

  std::filesystem::path file_;
  FrameRate fps_;
  std::optional<VideoWriter> writer_;
  ClipSize size_;
  std::string first_;
  std::int64_t count_ = 0;
};

// Each picture stands until the next one's time; the last one for one period.
ClipSize convert_video(const std::filesystem::path& video, const FrameRate& fps,
                       const std::filesystem::path& file, const MediaLimits& limits,
                       const Progress& progress, const std::stop_token& stop) {
  VideoReader reader = VideoReader::open(video, stop, limits);
  FrameWriter writer(file, fps);
  const double period_s = 1 / reader.info().rate.value_or(fps).hz();
  const auto total = static_cast<std::size_t>(std::lround(reader.info().duration_s * fps.hz()));
  std::int64_t written = 0;
  const auto show_until = [&](const VideoFrame& shown, double end_s) {
    while ((static_cast<double>(written) + 0.5) / fps.hz() < end_s) {
      writer.write(shown.image, fmt::format("frame {} of the video", written));
      ++written;
      if (progress) progress("reading", static_cast<std::size_t>(written), total);
    }
  };
  std::optional<VideoFrame> shown = reader.next();
  while (shown) {
    throw_if_stopped(stop);
    std::optional<VideoFrame> next = reader.next();
    show_until(*shown, next ? next->time_s : shown->time_s + period_s);
    // A clip shorter than half a frame still is one frame.
    if (!next && written == 0) writer.write(shown->image, "frame 0 of the video");
    shown = std::move(next);
  }
  return writer.finish();
}

ClipSize make_from_video(const std::filesystem::path& video, const FrameRate& fps,
                         const std::filesystem::path& file, const MediaLimits& limits,
                         const Progress& progress, const std::stop_token& stop) {
  if (copy_video_stream(video, file, fps, limits))
    return convert_video(video, fps, file, limits, progress, stop);
  if (progress) progress("reading", 0, 0);
  IndexedVideo copy = IndexedVideo::open(file, {.limits = limits});
  if (copy.frame_count() > k_max_avatar_frames || copy.width() > k_max_frame_size ||
      copy.height() > k_max_frame_size)
    throw Error(Code::invalid, fmt::format("an avatar holds at most {} frames of {} pixels a side",
                                           k_max_avatar_frames, k_max_frame_size));
  copy.check_all();
  return {copy.width(), copy.height()};
}

ClipSize make_from_pictures(const std::vector<std::filesystem::path>& pictures,
                            const FrameRate& fps, const std::filesystem::path& file,
                            const MediaLimits& limits, const Progress& progress,
                            const std::stop_token& stop) {
  FrameWriter writer(file, fps);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    throw_if_stopped(stop);
    writer.write(read_image(pictures[i], limits), pictures[i].string());
    if (progress) progress("reading", i + 1, pictures.size());
  }
  return writer.finish();
}

}  // namespace

ClipSize make_frames(const ClipSource& source, const FrameRate& fps,
                     const std::filesystem::path& file, const MediaLimits& limits,
                     const Progress& progress, const std::stop_token& stop) {
  if (const auto* video = std::get_if<std::filesystem::path>(&source)) {
    try {
      return make_from_video(*video, fps, file, limits, progress, stop);
    } catch (const Error& error) {
      // Most readers of video name it themselves.
      const bool named = error.message().find(video->string()) != std::string::npos;
      if (error.code() != Code::invalid || named) throw;
      throw error.within("video " + video->string());
    }
  }
  const auto& pictures = std::get<std::vector<std::filesystem::path>>(source);
  return make_from_pictures(pictures, fps, file, limits, progress, stop);
}

std::vector<std::string> source_checksums(const ClipSource& source) {
  if (const auto* video = std::get_if<std::filesystem::path>(&source)) return {sha256_file(*video)};
  std::vector<std::string> checksums;
  for (const auto& picture : std::get<std::vector<std::filesystem::path>>(source))
    checksums.push_back(sha256_file(picture));
  return checksums;
}

}  // namespace navtalk
