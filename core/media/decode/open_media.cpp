#include "core/media/decode/open_media.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "core/base/error.h"
#include "core/media/decode/picture/metadata.h"

namespace navtalk::media {
namespace {

// As FFmpeg names them. What a phone, a camera, a recorder, an editor or a browser writes.
constexpr const char* k_containers =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,asf,mxf,ogg,wav,w64,aiff,caf,au,mp3,"
    "flac,aac,amr,ac3,eac3,h264,hevc,m4v,mjpeg,ivf,gif,apng";
constexpr const char* k_mp4 = "mov";
constexpr const char* k_decoders =
    // video
    "h264,hevc,vp8,vp9,av1,libdav1d,libaom-av1,mpeg4,mpeg2video,mpeg1video,mjpeg,prores,dnxhd,ffv1,"
    "rawvideo,theora,h263,flv,msmpeg4v3,msmpeg4v2,wmv1,wmv2,wmv3,vc1,dvvideo,huffyuv,ffvhuff,"
    "utvideo,qtrle,png,apng,gif,v210,cinepak,svq3,"
    // sound
    "aac,aac_latm,mp3float,mp3,mp2float,mp2,flac,alac,opus,libopus,vorbis,libvorbis,ac3,eac3,amrnb,"
    "amrwb,libopencore_amrnb,libopencore_amrwb,wmav1,wmav2,wmapro,gsm,gsm_ms,adpcm_ms,"
    "adpcm_ima_wav,adpcm_ima_qt,adpcm_g722,adpcm_g726,pcm_u8,pcm_s8,pcm_s16le,pcm_s16be,pcm_s24le,"
    "pcm_s24be,pcm_s32le,pcm_s32be,pcm_s64le,pcm_s64be,pcm_u16le,pcm_u16be,pcm_f32le,pcm_f32be,"
    "pcm_f64le,pcm_f64be,pcm_alaw,pcm_mulaw,pcm_s8_planar,pcm_s16le_planar,pcm_s24le_planar,"
    "pcm_s32le_planar";

// FFmpeg sets up a decoder for each; a film with its languages has fewer.
constexpr int k_most_streams = 32;

// To find a picture's format, FFmpeg would decode one with all its texts and profiles. A decoder finds it
// anyway; until then any known format will do, which forget_formats() takes back.
constexpr AVPixelFormat k_any_format = AV_PIX_FMT_RGB24;

bool is_picture_stream(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
         has_metadata(stream.codecpar->codec_id);
}

void assume_formats(const AVFormatContext& context) {
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    AVStream& stream = *context.streams[i];
    if (!is_picture_stream(stream)) continue;
    AVCodecParameters& codec = *stream.codecpar;
    drop_metadata(codec);
    if (codec.width > 0 && codec.height > 0) {
      codec.format = k_any_format;
    } else {  // a cover, or a stream whose container does not say its size
      codec.codec_type = AVMEDIA_TYPE_DATA;
      codec.codec_id = AV_CODEC_ID_NONE;
      stream.discard = AVDISCARD_ALL;
    }
  }
}

void forget_formats(const AVFormatContext& context) {
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    if (is_picture_stream(*context.streams[i]))
      context.streams[i]->codecpar->format = AV_PIX_FMT_NONE;
  }
}

// FFmpeg's words would name the whole list.
std::string refusal(int rc) {
  const std::string why = reason(rc);
  return why.find("not on whitelist") == std::string::npos
             ? why
             : "its format is not one that navtalk reads";
}

}  // namespace

void bound_blocks(const MediaLimits& limits) {
  constexpr std::size_t k_pixel_bytes = 8, k_slack = 16 << 20;  // RGBA of 16 bits; indexes, packets
  av_max_alloc(k_pixel_bytes * static_cast<std::size_t>(limits.max_pixels) + k_slack);
}

const char* allowed_decoders() { return k_decoders; }

std::int64_t decoder_max_pixels(const MediaLimits& limits) {
  constexpr std::int64_t k_slack = 1 << 16;
  return 2 * limits.max_pixels + k_slack;
}

OpenedMedia open_media(ByteSource& source, const std::filesystem::path& path, Accept accept,
                       const MediaLimits& limits) {
  capture_log();
  bound_blocks(limits);
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) throw std::bad_alloc();
  context->pb = source.io();
  context->protocol_whitelist = av_strdup("");  // nothing else is opened, whatever the file says
  context->format_whitelist = av_strdup(k_containers);
  context->codec_whitelist = av_strdup(k_decoders);
  context->max_streams = k_most_streams;
  const AVInputFormat* format = accept == Accept::mp4_only ? av_find_input_format(k_mp4) : nullptr;
  // On failure FFmpeg frees the context.
  int rc = avformat_open_input(&context, path.c_str(), format, nullptr);
  if (rc < 0) return {.why = refusal(rc)};
  InputPtr input(context);
  assume_formats(*context);
  rc = avformat_find_stream_info(context, nullptr);
  if (rc < 0) return {.why = reason(rc)};
  forget_formats(*context);
  return {.input = std::move(input)};
}

void check_limits(const AVFormatContext& input, const AVStream& stream, const MediaLimits& limits,
                  const std::filesystem::path& path) {
  const AVCodecParameters& codec = *stream.codecpar;
  const std::int64_t pixels = std::int64_t{codec.width} * codec.height;
  if (codec.codec_type == AVMEDIA_TYPE_VIDEO && pixels > limits.max_pixels)
    throw Error(Code::invalid,
                fmt::format("{} is {}x{}: more than {:.0f} megapixels (media.max_megapixels)",
                            path.string(), codec.width, codec.height,
                            static_cast<double>(limits.max_pixels) / 1e6));
  if (codec.codec_type == AVMEDIA_TYPE_AUDIO)
    check_sound(codec.sample_rate, codec.ch_layout.nb_channels, path);
  check_duration(announced_seconds(input, stream), limits, path);
}

double announced_seconds(const AVFormatContext& input, const AVStream& stream) {
  double announced_s = 0;
  if (stream.duration != AV_NOPTS_VALUE)
    announced_s = static_cast<double>(stream.duration) * av_q2d(stream.time_base);
  if (input.duration != AV_NOPTS_VALUE)
    announced_s = std::max(announced_s, static_cast<double>(input.duration) / AV_TIME_BASE);
  return announced_s;
}

void check_sound(int rate_hz, int channels, const std::filesystem::path& path) {
  if (rate_hz > k_most_rate_hz || channels > k_most_channels)
    throw Error(
        Code::invalid,
        fmt::format("{} has {} channels of sound at {} Hz: at most {} channels and {} Hz are "
                    "possible",
                    path.string(), channels, rate_hz, k_most_channels, k_most_rate_hz));
}

void check_duration(double seconds, const MediaLimits& limits, const std::filesystem::path& path) {
  if (seconds > limits.max_duration_s)
    throw Error(Code::invalid, fmt::format("{} lasts longer than {:.0f} s (media.max_duration_s)",
                                           path.string(), limits.max_duration_s));
}

}  // namespace navtalk::media
