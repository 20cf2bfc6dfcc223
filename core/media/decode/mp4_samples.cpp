#include "core/media/decode/mp4_samples.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.h"
#include "core/media/decode/open_media.h"

namespace navtalk::media {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(Code::invalid, fmt::format("{}: {}", path.string(), why));
}

}  // namespace

InputPtr open_mp4(ByteSource& source, const std::filesystem::path& path,
                  const MediaLimits& limits) {
  OpenedMedia opened = open_media(source, path, Accept::mp4_only, AVMEDIA_TYPE_VIDEO, limits);
  if (!opened.input) refuse(path, "not a readable MP4 file: " + opened.why);
  return std::move(opened.input);
}

const AVStream* h264_stream(AVFormatContext* format, const std::filesystem::path& path,
                            const MediaLimits& limits) {
  const int index = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (index < 0) refuse(path, "holds no video stream");
  const AVStream* stream = format->streams[index];
  check_limits(*format, *stream, limits, path);
  if (stream->codecpar->codec_id != AV_CODEC_ID_H264) refuse(path, "the video is not H.264");
  const int pixels = stream->codecpar->format;
  if (pixels == AV_PIX_FMT_NONE)
    refuse(path, "its first picture cannot be decoded: the file is cut off or damaged");
  if (pixels != AV_PIX_FMT_YUV420P && pixels != AV_PIX_FMT_YUVJ420P && pixels != AV_PIX_FMT_GBRP)
    refuse(path, "the video is neither 8-bit 4:2:0 nor 8-bit RGB");
  return stream;
}

std::vector<Sample> read_samples(AVFormatContext* format, const AVStream* stream,
                                 const std::filesystem::path& path) {
  std::vector<Sample> samples;
  const PacketPtr packet = make_packet();
  int rc = 0;
  while ((rc = av_read_frame(format, packet.get())) >= 0) {
    if (packet->stream_index == stream->index) {
      if (packet->pts == AV_NOPTS_VALUE || packet->pos < 0 || packet->size <= 0 ||
          (packet->flags & (AV_PKT_FLAG_CORRUPT | AV_PKT_FLAG_DISCARD)) != 0)
        refuse(path, fmt::format("picture {} of the video is damaged", samples.size()));
      samples.push_back({packet->pos, packet->size, packet->pts, packet->dts,
                         (packet->flags & AV_PKT_FLAG_KEY) != 0});
    }
    av_packet_unref(packet.get());
  }
  const auto count = static_cast<std::int64_t>(samples.size());
  if (rc != AVERROR_EOF || (stream->nb_frames > 0 && count < stream->nb_frames))
    refuse(path, "the video is truncated");
  if (samples.empty() || !samples.front().key) refuse(path, "the video holds no key frame");
  return samples;
}

}  // namespace navtalk::media
