#include "core/media/encode/stream_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/media/decode/open_media.h"
#include "core/media/ffmpeg.h"

namespace navtalk {
namespace {

constexpr int k_ticks = 512;                 // of the file's clock, for each frame of a whole rate
constexpr std::size_t k_key_distance = 300;  // at most; x264's own default is 250

void close_output(AVFormatContext* format) {
  if (format->pb != nullptr) avio_closep(&format->pb);
  avformat_free_context(format);
}
using OutputPtr = CPtr<AVFormatContext, close_output>;

struct Source {
  const AVStream* stream = nullptr;
  std::vector<media::PacketPtr> packets;
};

// Whether a packet in MP4 framing (length, unit, length, unit, ...) holds an IDR picture, from
// which decoding starts afresh; other key frames may let later pictures refer further back.
bool holds_idr(const AVPacket& packet, int length_bytes) {
  int at = 0;
  while (at + length_bytes < packet.size) {
    std::uint32_t length = 0;
    for (int i = 0; i < length_bytes; ++i) length = length << 8 | packet.data[at + i];
    at += length_bytes;
    if ((packet.data[at] & 0x1F) == 5) return true;
    if (length > static_cast<std::uint32_t>(packet.size - at)) return false;
    at += static_cast<int>(length);
  }
  return false;
}

std::optional<std::string> refuse_parameters(const AVStream& stream) {
  const AVCodecParameters& codec = *stream.codecpar;
  if (codec.codec_id != AV_CODEC_ID_H264) return "it is not H.264";
  if (codec.format != AV_PIX_FMT_YUV420P) return "it is not 8-bit 4:2:0";
  if (codec.field_order > AV_FIELD_PROGRESSIVE) return "it is interlaced";
  if (av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr) != nullptr)
    return "it is shown rotated";
  // avcC: version 1, then profile, compatibility, level, 6 bits + (length size - 1).
  if (codec.extradata_size < 7 || codec.extradata[0] != 1) return "it is not in MP4 framing";
  return std::nullopt;
}

std::optional<std::string> refuse_times(const Source& source, const FrameRate& fps) {
  std::vector<std::int64_t> times;
  for (const media::PacketPtr& packet : source.packets) {
    if (packet->pts == AV_NOPTS_VALUE || packet->dts == AV_NOPTS_VALUE)
      return "it has frames without a time";
    times.push_back(packet->pts);
  }
  std::sort(times.begin(), times.end());
  if (fps.num() > std::numeric_limits<int>::max() / k_ticks)
    return fmt::format("a clock cannot count {} frames a second", text(fps));
  const double ticks = 1.0 / (av_q2d(source.stream->time_base) * fps.hz());
  if (ticks < 1) return "its clock is coarser than its frames";
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double expected = static_cast<double>(i) * ticks;
    if (std::abs(static_cast<double>(times[i] - times[0]) - expected) > 1.0)
      return fmt::format("it does not have {} evenly spaced frames a second", text(fps));
  }
  return std::nullopt;
}

std::optional<std::string> refuse_structure(const Source& source) {
  const int length_bytes = (source.stream->codecpar->extradata[4] & 3) + 1;
  std::size_t last_key = 0;
  for (std::size_t i = 0; i < source.packets.size(); ++i) {
    const AVPacket& packet = *source.packets[i];
    if ((packet.flags & AV_PKT_FLAG_DISCARD) != 0) return "parts of it are not shown";
    if (packet.side_data_elems > 0) return "its parameters change";
    const bool idr = holds_idr(packet, length_bytes);
    if (idr != ((packet.flags & AV_PKT_FLAG_KEY) != 0) || (i == 0 && !idr))
      return "decoding cannot start at each of its key frames";
    if (idr) last_key = i;
    if (i - last_key >= k_key_distance) return "its key frames are too far apart";
  }
  return std::nullopt;
}

std::vector<media::PacketPtr> read_packets(AVFormatContext* format, const AVStream* stream,
                                           const std::filesystem::path& path) {
  std::vector<media::PacketPtr> packets;
  media::PacketPtr packet = media::make_packet();
  int rc = 0;
  while ((rc = av_read_frame(format, packet.get())) >= 0) {
    if (packet->stream_index != stream->index) {
      av_packet_unref(packet.get());
      continue;
    }
    packets.push_back(std::move(packet));
    packet = media::make_packet();
  }
  const auto count = static_cast<std::int64_t>(packets.size());
  if (rc != AVERROR_EOF || (stream->nb_frames > 0 && count < stream->nb_frames))
    throw Error(Code::invalid, fmt::format("{}: the video is truncated: {} of {} frames are there",
                                           path.string(), count, stream->nb_frames));
  return packets;
}

[[noreturn]] void fail_writing(const std::filesystem::path& path, int rc) {
  throw Error(Code::failed,
              fmt::format("{} cannot be written: {}", path.string(), media::reason(rc)));
}

OutputPtr open_output(const Source& source, const std::filesystem::path& path,
                      const FrameRate& fps) {
  AVFormatContext* raw = nullptr;
  if (avformat_alloc_output_context2(&raw, nullptr, "mp4", nullptr) < 0)
    fail_writing(path, AVERROR(ENOMEM));
  OutputPtr output(raw);
  AVStream* stream = avformat_new_stream(raw, nullptr);
  if (stream == nullptr || avcodec_parameters_copy(stream->codecpar, source.stream->codecpar) < 0)
    fail_writing(path, AVERROR(ENOMEM));
  stream->codecpar->codec_tag = 0;
  stream->time_base = {fps.den(), fps.num() * k_ticks};
  stream->avg_frame_rate = {fps.num(), fps.den()};
  raw->flags |= AVFMT_FLAG_BITEXACT;  // no version, no time of writing
  const int rc = avio_open(&raw->pb, ("file:" + path.string()).c_str(), AVIO_FLAG_WRITE);
  if (rc < 0) fail_writing(path, rc);
  return output;
}

void write_packets(Source& source, AVFormatContext* output, const std::filesystem::path& path,
                   const FrameRate& fps) {
  AVDictionary* settings = nullptr;
  av_dict_set_int(&settings, "video_track_timescale", std::int64_t{fps.num()} * k_ticks, 0);
  int rc = avformat_write_header(output, &settings);
  av_dict_free(&settings);
  if (rc < 0) fail_writing(path, rc);
  std::int64_t first = source.packets.front()->pts;
  for (const media::PacketPtr& packet : source.packets) first = std::min(first, packet->pts);
  const AVRational to = output->streams[0]->time_base;
  const std::int64_t frame_ticks = av_rescale_q(1, {fps.den(), fps.num()}, to);
  for (const media::PacketPtr& packet : source.packets) {
    packet->pts -= first;
    packet->dts -= first;
    av_packet_rescale_ts(packet.get(), source.stream->time_base, to);
    // Clocks that do not divide evenly round differently from frame to frame: put them in place.
    packet->pts = (packet->pts + frame_ticks / 2) / frame_ticks * frame_ticks;
    packet->dts = std::min(packet->dts, packet->pts);
    packet->duration = frame_ticks;
    packet->stream_index = 0;
    packet->pos = -1;
    if ((rc = av_write_frame(output, packet.get())) < 0) fail_writing(path, rc);
  }
  if ((rc = av_write_trailer(output)) < 0) fail_writing(path, rc);
  if ((rc = avio_closep(&output->pb)) < 0) fail_writing(path, rc);
}

}  // namespace

std::optional<std::string> copy_video_stream(const std::filesystem::path& source_path,
                                             const std::filesystem::path& destination,
                                             const FrameRate& fps, const MediaLimits& limits) {
  media::ByteSource bytes(source_path, {});
  const media::OpenedMedia opened = media::open_media(
      bytes, source_path, media::Accept::any_container, AVMEDIA_TYPE_VIDEO, limits);
  if (!opened.input)
    throw Error(Code::invalid,
                fmt::format("{}: not a readable video: {}", source_path.string(), opened.why));
  AVFormatContext* raw = opened.input.get();
  const AVCodec* decoder = nullptr;
  const int index = av_find_best_stream(raw, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
  if (index < 0)
    throw Error(Code::invalid, fmt::format("{}: holds no readable video", source_path.string()));
  Source source;
  source.stream = raw->streams[index];
  media::check_limits(*raw, *source.stream, limits, source_path);
  if (auto why = refuse_parameters(*source.stream)) return why;
  source.packets = read_packets(raw, source.stream, source_path);
  if (source.packets.empty())
    throw Error(Code::invalid, fmt::format("{}: the video has no frames", source_path.string()));
  if (auto why = refuse_times(source, fps)) return why;
  if (auto why = refuse_structure(source)) return why;
  write_packets(source, open_output(source, destination, fps).get(), destination, fps);
  return std::nullopt;
}

}  // namespace navtalk
