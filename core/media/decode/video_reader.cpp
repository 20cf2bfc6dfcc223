#include "core/media/decode/video_reader.h"

#include <cstring>
#include <utility>

#include "core/media/decode/orientation.h"
#include "core/media/decode/stream_decoder.h"
#include "core/media/pixels.h"

namespace navtalk {
namespace {

double seconds_or_zero(std::int64_t duration, AVRational base) {
  return duration == AV_NOPTS_VALUE ? 0.0 : static_cast<double>(duration) * av_q2d(base);
}

media::Orientation stream_orientation(const AVStream& stream) {
  std::size_t size = 0;
  const std::uint8_t* data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  if (data == nullptr || size < 9 * sizeof(std::int32_t)) return {};
  std::int32_t matrix[9];
  std::memcpy(matrix, data, sizeof matrix);
  return media::orientation(matrix);
}

}  // namespace

struct VideoReader::Impl {
  std::filesystem::path path;
  media::StreamDecoder decoder;
  media::Orientation orientation;
  media::FrameToBgr to_bgr;
  media::FramePtr frame = media::make_frame();
  VideoInfo info;
  std::optional<std::int64_t> first_timestamp;
  double next_time_s = 0;  // for a frame that has no timestamp

  Impl(std::filesystem::path file, std::stop_token stop, const MediaLimits& limits)
      : path(std::move(file)),
        decoder(
            {.path = path, .type = AVMEDIA_TYPE_VIDEO, .stop = std::move(stop), .limits = limits}),
        orientation(stream_orientation(decoder.stream())) {
    const AVStream& stream = decoder.stream();
    info.width = decoder.codec().width;
    info.height = decoder.codec().height;
    if (orientation.transpose) std::swap(info.width, info.height);
    info.rate = media::frame_rate(stream.avg_frame_rate);
    info.duration_s = seconds_or_zero(stream.duration, stream.time_base);
    if (info.duration_s == 0)
      info.duration_s = seconds_or_zero(decoder.container().duration, AVRational{1, AV_TIME_BASE});
  }

  double time_s() {
    const std::int64_t timestamp = frame->best_effort_timestamp;
    if (timestamp == AV_NOPTS_VALUE) return next_time_s;
    if (!first_timestamp) first_timestamp = timestamp;
    return seconds_or_zero(timestamp - *first_timestamp, decoder.stream().time_base);
  }

  Image picture() {
    Image image(frame->width, frame->height);
    to_bgr.convert(*frame, image.view());
    if (orientation != media::Orientation{}) image = media::upright(image, orientation);
    return image;
  }
};

VideoReader VideoReader::open(const std::filesystem::path& path, const std::stop_token& stop,
                              const MediaLimits& limits) {
  return VideoReader(std::make_unique<Impl>(path, stop, limits));
}
VideoReader::VideoReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
VideoReader::VideoReader(VideoReader&&) noexcept = default;
VideoReader& VideoReader::operator=(VideoReader&&) noexcept = default;
VideoReader::~VideoReader() = default;

const VideoInfo& VideoReader::info() const { return impl_->info; }

std::optional<VideoFrame> VideoReader::next() {
  if (!impl_->decoder.next(*impl_->frame)) return std::nullopt;
  VideoFrame result{.image = impl_->picture(), .time_s = impl_->time_s()};
  if (result.image.width != impl_->info.width || result.image.height != impl_->info.height)
    throw Error(Code::invalid, impl_->path.string() + " changes its picture size in the middle");
  impl_->next_time_s = result.time_s + 1 / impl_->info.rate.value_or(25).hz();
  return result;
}

}  // namespace navtalk
