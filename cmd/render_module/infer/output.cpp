#include "cmd/render_module/infer/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/media/encode/sound_file.h"
#include "core/media/image_file.h"
#include "gpu/image/resize.h"

namespace navtalk::cmd {
namespace {

using Kind = OutputTarget::Kind;

constexpr const char* k_sound_name = "sound.wav";

std::string frame_name(std::int64_t index) { return fmt::format("{:08}.png", index); }

// Two taps a side see too little of a picture that is more than twice as large: it is halved first,
// which with two taps is a mean.
Image resized(ConstImageView bgr, const PictureSize& size) {
  Image half;
  while (bgr.width >= 2 * size.width && bgr.height >= 2 * size.height) {
    Image smaller(bgr.width / 2, bgr.height / 2, bgr.channels);
    resize(bgr, smaller.view(), Interpolation::linear);
    half = std::move(smaller);
    bgr = std::as_const(half).view();
  }
  Image result(size.width, size.height, bgr.channels);
  resize(bgr, result.view(), Interpolation::linear);
  return result;
}

}  // namespace

void refuse_long(const VideoFormat& format, double duration_s) {
  if (format.longest_s == 0 || duration_s <= format.longest_s) return;
  throw Error(Code::invalid,
              fmt::format("the speech lasts {:.1f} s, a {} file {:.0f} s at most: write .mp4 or "
                          ".webm, or a part of it with --duration",
                          duration_s, format.ending, format.longest_s));
}

InferOutput::InferOutput(const Options& options) : options_(options) {
  const OutputTarget& target = options.target;
  if (target.kind == Kind::file)
    file_.emplace(PartialPath::Options{.target = target.path, .overwrite = options.force});
  const bool folder = target.kind == Kind::folder;
  if (folder && !options.frames.empty())
    throw Error(Code::usage, "--output names a folder of PNGs: leave --frames out");
  if (folder || !options.frames.empty()) {
    frames_.emplace(PartialPath::Options{.target = folder ? target.path : options.frames,
                                         .kind = PartialPath::Kind::directory,
                                         .overwrite = options.force,
                                         .marker = frame_name(0)});
  }
  const bool beside = options.subtitles == "srt" || options.subtitles == "vtt";
  if (beside && target.kind == Kind::file) {
    std::filesystem::path name = target.path;
    name.replace_extension(options.subtitles);
    subtitles_.emplace(PartialPath::Options{.target = name, .overwrite = options.force});
  } else if (beside && !folder) {
    throw Error(Code::usage,
                "--subtitles srt and vtt stand beside a video file: name it with "
                "--output, or use burn");
  }
}

template <class Work>
void InferOutput::with_names(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    std::string message = error.message();
    if (file_) message = file_->named(std::move(message));
    if (frames_) message = frames_->named(std::move(message));
    if (subtitles_) message = subtitles_->named(std::move(message));
    throw Error(error.code(), std::move(message));
  }
}

bool InferOutput::takes_nv12(int width, int height) const {
  const PictureSize& size = options_.size;
  const bool same = size.width == 0 || (size.width == width && size.height == height);
  const VideoFormat* format = options_.target.format;
  return format != nullptr && !frames_ && options_.subtitles != "burn" && same && width % 2 == 0 &&
         height % 2 == 0 &&
         (format->pictures == PictureCodec::h264 || format->pictures == PictureCodec::vp9);
}

void InferOutput::start(const Content& content) {
  content_ = content;
  PictureSize& size = options_.size;
  if (size.width == 0) size = {content.width, content.height};
  if (options_.subtitles == "burn") painter_.emplace(size.width, size.height, content.cues);
  const OutputTarget& target = options_.target;
  if (target.format == nullptr) return;
  refuse_long(*target.format, content.duration_s);
  with_names([&] { open_video(); });
}

void InferOutput::open_video() {
  const OutputTarget& target = options_.target;
  VideoOptions video{.path = file_ ? file_->path() : std::filesystem::path(),
                     .format = target.format,
                     .to_standard_output = target.kind == Kind::standard_output,
                     .width = options_.size.width,
                     .height = options_.size.height,
                     .nv12 = content_.nv12,
                     .fps = content_.fps,
                     .audio = content_.audio,
                     .audio_start_s = content_.audio_start_s,
                     .audio_limits = content_.limits,
                     .crf = options_.crf,
                     .kbit_per_s = options_.kbit_per_s,
                     .open_groups = true};
  if (content_.segments && content_.frames > content_.segment_frames && file_ && !frames_ &&
      target.format->pictures == PictureCodec::h264) {
    segments_.emplace(SegmentWriter::Options{.work = *content_.segments,
                                             .device = content_.device,
                                             .frames = content_.segment_frames,
                                             .video_frames = content_.frames,
                                             .video = std::move(video)});
  } else {
    writer_ = std::make_unique<VideoWriter>(std::move(video));
  }
}

std::vector<FrameRange> InferOutput::wanted() const {
  return segments_ ? segments_->missing() : RenderOptions().wanted;
}

ConstImageView InferOutput::scaled(ConstImageView bgr) {
  const PictureSize& size = options_.size;
  if (bgr.width == size.width && bgr.height == size.height) return bgr;
  scaled_ = resized(bgr, size);
  return std::as_const(scaled_).view();
}

ConstImageView InferOutput::painted(std::int64_t t, ConstImageView bgr) {
  if (!painter_) return bgr;
  painted_ = Image(bgr.width, bgr.height, bgr.channels);
  for (int y = 0; y < bgr.height; ++y)
    std::copy_n(bgr.row(y), std::ptrdiff_t{bgr.width} * bgr.channels, painted_.view().row(y));
  painter_->paint(painted_.view(), content_.fps.seconds(t));
  return std::as_const(painted_).view();
}

void InferOutput::write_video(std::int64_t t, const RenderedPicture& picture) {
  if (segments_) segments_->write(t, picture);
  if (writer_) std::visit([this](const auto& one) { writer_->write(one); }, picture);
}

void InferOutput::write(std::int64_t t, const RenderedPicture& picture) {
  with_names([&] {
    if (const auto* bgr = std::get_if<ConstImageView>(&picture)) {
      const ConstImageView shown = painted(t, scaled(*bgr));
      write_video(t, shown);
      if (frames_) write_png(frames_->path() / frame_name(t), shown);
    } else {
      write_video(t, picture);
    }
  });
  count_ = t + 1;
  ++written_;
}

void InferOutput::write_subtitles() {
  if (options_.subtitles != "srt" && options_.subtitles != "vtt") return;
  const std::string text = options_.subtitles == "srt" ? srt(content_.cues) : vtt(content_.cues);
  const std::filesystem::path path =
      subtitles_ ? subtitles_->path() : frames_->path() / ("subtitles." + options_.subtitles);
  std::ofstream out(path, std::ios::binary);
  if (!(out << text).flush())
    throw Error(Code::failed, path.string() + " cannot be written: " + system_message(errno));
}

RenderedVideo InferOutput::finish(const std::stop_token& stop, const BeforeCommit& before_commit) {
  if (segments_) with_names([&] { count_ = segments_->finish(stop); });
  RenderedVideo video{.frames = count_,
                      .rendered = written_,
                      .lacks_letters = painter_ && painter_->lacks_letters()};
  if (writer_) {
    with_names([&] { writer_->finish(); });
    writer_.reset();
  }
  if (options_.target.kind == Kind::folder) {
    with_names([&] {
      write_sound_file({.source = content_.audio,
                        .output = frames_->path() / k_sound_name,
                        .start_s = content_.audio_start_s,
                        .duration_s = content_.fps.seconds(count_),
                        .stop = stop,
                        .limits = content_.limits});
    });
  }
  with_names([&] { write_subtitles(); });
  if (before_commit && (file_ || frames_)) before_commit(file_ ? file_->path() : frames_->path());
  if (subtitles_) {
    subtitles_->commit();
    video.subtitles = subtitles_->target();
  }
  if (frames_) {
    frames_->commit();
    video.frames_directory = frames_->target();
  }
  if (file_) {  // the last one: where it stands, all do
    file_->commit(content_.segments ? content_.segments->storing : std::function<void()>());
    video.file = file_->target();
  }
  return video;
}

}  // namespace navtalk::cmd
