#include "avatars/prepare/source_clip.h"

#include <fmt/format.h>

#include <algorithm>
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

// The preset plans with 40 pictures, which is 2 GB in 4K. Larger pictures than these get as many as fit into the same memory.
constexpr std::int64_t k_lookahead_pixels = std::int64_t{40} * 1920 * 1088;
constexpr int k_least_lookahead = 4;
// Pictures without loss take long to decode, and an avatar is entered anywhere.
constexpr int k_lossless_key_interval = 50;

int lookahead_for(const Image& image) {
  const std::int64_t fit = k_lookahead_pixels / (std::int64_t{image.width} * image.height);
  return fit >= 40 ? 0 : std::max(k_least_lookahead, static_cast<int>(fit));
}

// Encodes pictures that all have the size of the first.
class FrameWriter {
 public:
  // `key_interval`: as VideoOptions'.
  FrameWriter(const std::filesystem::path& file, const ClipCoding& coding, int key_interval = 0)
      : file_(file),
        coding_(coding),
        key_interval_(key_interval == 0 && coding.lossless ? k_lossless_key_interval
                                                           : key_interval) {}

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

  std::int64_t count() const { return count_; }

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
                                 .fps = coding_.fps,
                                 .audio = std::nullopt,
                                 .crf = 12,
                                 .lossless_rgb = coding_.lossless,
                                 .key_interval = key_interval_,
                                 .preset = coding_.lossless ? "superfast" : "medium",
                                 .lookahead = lookahead_for(image),
                                 .threads = 4});
  }

  std::filesystem::path file_;
  ClipCoding coding_;
  int key_interval_;
  std::optional<VideoWriter> writer_;
  ClipSize size_;
  std::string first_;
  std::int64_t count_ = 0;
};

// Each picture stands until the next one's time; the last one for one period. `name`: of the video, for messages.
void write_video(FrameWriter& writer, const std::filesystem::path& video, const std::string& name,
                 const FrameRate& fps, const MediaLimits& limits, const Progress& progress,
                 const std::stop_token& stop) {
  VideoReader reader = VideoReader::open(video, stop, limits);
  const double period_s = 1 / reader.info().rate.value_or(fps).hz();
  const auto total = static_cast<std::size_t>(std::lround(reader.info().duration_s * fps.hz()));
  std::int64_t written = 0;
  const auto show_until = [&](const VideoFrame& shown, double end_s) {
    while ((static_cast<double>(written) + 0.5) / fps.hz() < end_s) {
      writer.write(shown.image, fmt::format("frame {} of {}", written, name));
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
    if (!next && written == 0) writer.write(shown->image, fmt::format("frame 0 of {}", name));
    shown = std::move(next);
  }
}

ClipSize convert_video(const std::filesystem::path& video, const ClipCoding& coding,
                       const std::filesystem::path& file, const MediaLimits& limits,
                       const Progress& progress, const std::stop_token& stop) {
  FrameWriter writer(file, coding);
  write_video(writer, video, "the video", coding.fps, limits, progress, stop);
  return writer.finish();
}

ClipSize make_from_video(const std::filesystem::path& video, const ClipCoding& coding,
                         const std::filesystem::path& file, const MediaLimits& limits,
                         const Progress& progress, const std::stop_token& stop) {
  if (coding.lossless || copy_video_stream(video, file, coding.fps, limits))
    return convert_video(video, coding, file, limits, progress, stop);
  if (progress) progress("reading", 0, 0);
  IndexedVideo copy = IndexedVideo::open(file, {.limits = limits});
  if (copy.frame_count() > k_max_avatar_frames || copy.width() > k_max_frame_size ||
      copy.height() > k_max_frame_size)
    throw Error(Code::invalid, fmt::format("an avatar holds at most {} frames of {} pixels a side",
                                           k_max_avatar_frames, k_max_frame_size));
  copy.check_all();
  return {copy.width(), copy.height()};
}

void write_pictures(FrameWriter& writer, const std::vector<std::filesystem::path>& pictures,
                    const MediaLimits& limits, const Progress& progress,
                    const std::stop_token& stop) {
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    throw_if_stopped(stop);
    writer.write(read_image(pictures[i], limits), pictures[i].string());
    if (progress) progress("reading", i + 1, pictures.size());
  }
}

// Most readers of video name it themselves.
Error named(const Error& error, const std::filesystem::path& video) {
  const bool is_named = error.message().find(video.string()) != std::string::npos;
  return is_named ? error : error.within("video " + video.string());
}

}  // namespace

ClipSize make_frames(const ClipSource& source, const ClipCoding& coding,
                     const std::filesystem::path& file, const MediaLimits& limits,
                     const Progress& progress, const std::stop_token& stop) {
  if (const auto* video = std::get_if<std::filesystem::path>(&source)) {
    try {
      return make_from_video(*video, coding, file, limits, progress, stop);
    } catch (const Error& error) {
      if (error.code() != Code::invalid) throw;
      throw named(error, *video);
    }
  }
  FrameWriter writer(file, coding);
  write_pictures(writer, std::get<std::vector<std::filesystem::path>>(source), limits, progress,
                 stop);
  return writer.finish();
}

JoinedClips join_frames(const std::vector<ClipSource>& sources, const ClipCoding& coding,
                        const std::filesystem::path& file, const MediaLimits& limits,
                        const Progress& progress, const std::stop_token& stop) {
  FrameWriter writer(file, coding, std::max(1, static_cast<int>(coding.fps.hz() / 2)));
  JoinedClips joined;
  for (const ClipSource& source : sources) {
    const std::int64_t before = writer.count();
    if (const auto* video = std::get_if<std::filesystem::path>(&source)) {
      try {
        write_video(writer, *video, video->string(), coding.fps, limits, progress, stop);
      } catch (const Error& error) {
        if (error.code() != Code::invalid) throw;
        throw named(error, *video);
      }
      if (writer.count() == before)
        throw Error(Code::invalid, "video " + video->string() + ": there is no frame in it");
    } else {
      write_pictures(writer, std::get<std::vector<std::filesystem::path>>(source), limits, progress,
                     stop);
    }
    joined.frames.push_back(writer.count() - before);
  }
  joined.size = writer.finish();
  return joined;
}

ClipSize encode_pictures(std::int64_t count, const std::function<Image(std::int64_t)>& picture,
                         const ClipCoding& coding, const std::filesystem::path& file,
                         const Progress& progress, const std::stop_token& stop) {
  FrameWriter writer(file, coding);
  for (std::int64_t i = 0; i < count; ++i) {
    throw_if_stopped(stop);
    writer.write(picture(i), fmt::format("frame {}", i));
    if (progress)
      progress("reading", static_cast<std::size_t>(i + 1), static_cast<std::size_t>(count));
  }
  return writer.finish();
}

std::vector<std::string> source_checksums(const ClipSource& source) {
  if (const auto* video = std::get_if<std::filesystem::path>(&source)) return {sha256_file(*video)};
  std::vector<std::string> checksums;
  for (const auto& picture : std::get<std::vector<std::filesystem::path>>(source))
    checksums.push_back(sha256_file(picture));
  return checksums;
}

}  // namespace navtalk
