#include "core/media/decode/open_media.h"

extern "C" {
#include <libavutil/avstring.h>
}

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

#include "core/base/error.h"
#include "core/media/decode/mp4_index.h"
#include "core/media/decode/picture/metadata.h"
#include "core/media/decode/vorbis_setup.h"

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

// A film with its languages has fewer. FFmpeg sets up a decoder for each that it meets only while it reads.
constexpr int k_most_streams = 32, k_most_late_streams = 4;

// To find a picture's format, FFmpeg would decode one with all its texts and profiles. A decoder finds it
// anyway; until then any known format will do, which forget_formats() takes back.
constexpr AVPixelFormat k_any_format = AV_PIX_FMT_RGB24;

bool is_picture_stream(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
         has_metadata(stream.codecpar->codec_id);
}

bool is_cover(const AVStream& stream) {
  return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}

// As av_find_best_stream() ranks streams of which nothing is decoded yet; -1: there is none.
int best_stream(const AVFormatContext& context, AVMediaType type) {
  constexpr int k_impaired = AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED;
  int best = -1;
  std::pair<int, std::int64_t> best_rank;
  for (int i = 0; i < static_cast<int>(context.nb_streams); ++i) {
    const AVStream& stream = *context.streams[i];
    const AVCodecParameters& codec = *stream.codecpar;
    if (codec.codec_type != type || is_cover(stream) ||
        avcodec_find_decoder(codec.codec_id) == nullptr)
      continue;
    const int shown = ((stream.disposition & k_impaired) == 0 ? 1 : 0) +
                      ((stream.disposition & AV_DISPOSITION_DEFAULT) != 0 ? 1 : 0);
    const std::pair rank(shown, codec.bit_rate);
    if (best >= 0 && rank <= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

void make_undecodable(AVStream& stream) {
  AVCodecParameters& codec = *stream.codecpar;
  // The others' times still say how long the file lasts.
  if (is_cover(stream)) stream.discard = AVDISCARD_ALL;
  if (is_cover(stream) || codec.codec_type != AVMEDIA_TYPE_AUDIO)
    codec.codec_type = AVMEDIA_TYPE_DATA;
  codec.codec_id = AV_CODEC_ID_NONE;
}

// To know a stream FFmpeg sets up its decoder, with all that its header describes.
void keep_one_decodable(AVFormatContext& context, AVMediaType type) {
  const int best = best_stream(context, type);
  for (int i = 0; i < static_cast<int>(context.nb_streams); ++i) {
    AVStream& stream = *context.streams[i];
    const bool unknown = best < 0 && stream.codecpar->codec_id == AV_CODEC_ID_NONE;
    const bool undecodable = best < 0 && stream.codecpar->codec_type == type && !is_cover(stream);
    if (i != best && !unknown && !undecodable) make_undecodable(stream);
  }
  context.max_streams = static_cast<int>(context.nb_streams) + k_most_late_streams;
}

// Empty: it may be decoded.
std::string why_too_much(const AVFormatContext& context) {
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    if (vorbis_codebook_bytes(*context.streams[i]->codecpar) > k_most_codebook_bytes)
      return "its Vorbis header describes more than any encoder writes";
  }
  return "";
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

// Empty: its samples may be listed.
std::string why_not_listed(ByteSource& source, const AVInputFormat& format,
                           const MediaLimits& limits) {
  const bool mp4 = av_match_name(k_mp4, format.name) != 0;
  return mp4 && (source.io()->seekable & AVIO_SEEKABLE_NORMAL) != 0
             ? why_index_too_large(*source.io(), limits)
             : "";
}

std::atomic<std::size_t> largest_block = 0;  // bytes, as bound_blocks() set it

// Nothing of it is touched.
bool can_have(std::size_t bytes) { return CPtr<void, av_free>(av_malloc(bytes)) != nullptr; }

// What cannot be written to counts for a process' own bound, and for nothing that the machine has.
bool has_room_for(std::size_t bytes) {
  void* const place =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return place != MAP_FAILED && ::munmap(place, bytes) == 0;
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
  largest_block = k_pixel_bytes * static_cast<std::size_t>(limits.max_pixels) + k_slack;
  av_max_alloc(largest_block);
}

void throw_if_no_memory(int error_code, const std::filesystem::path& path) {
  if (error_code != AVERROR(ENOMEM)) return;
  constexpr std::size_t k_alignment = 64;  // FFmpeg may count it as part of a block
  const std::size_t most = largest_block - k_alignment;
  if (can_have(most)) return;
  if (!has_room_for(most)) throw std::bad_alloc();
  throw Error(Code::failed, "memory: this machine has none to decode " + path.string());
}

const char* allowed_decoders() { return k_decoders; }

std::int64_t decoder_max_pixels(const MediaLimits& limits) {
  constexpr std::int64_t k_slack = 1 << 16;
  return 2 * limits.max_pixels + k_slack;
}

OpenedMedia open_media(ByteSource& source, const std::filesystem::path& path, Accept accept,
                       AVMediaType type, const MediaLimits& limits) {
  capture_log();
  bound_blocks(limits);
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) throw std::bad_alloc();
  context->pb = source.io();
  context->flags |= AVFMT_FLAG_CUSTOM_IO;       // it is not FFmpeg's to close
  context->protocol_whitelist = av_strdup("");  // nothing else is opened, whatever the file says
  context->format_whitelist = av_strdup(k_containers);
  context->codec_whitelist = av_strdup(k_decoders);
  context->max_streams = k_most_streams;
  InputPtr input(context);
  const AVInputFormat* format = accept == Accept::mp4_only ? av_find_input_format(k_mp4) : nullptr;
  int rc = 0;
  if (format == nullptr)
    rc = av_probe_input_buffer2(source.io(), &format, path.c_str(), context, 0, 0);
  throw_if_no_memory(rc, path);
  if (rc < 0) return {.why = refusal(rc)};
  if (std::string why = why_not_listed(source, *format, limits); !why.empty())
    return {.why = std::move(why)};
  input.release();  // on failure FFmpeg frees it
  rc = avformat_open_input(&context, path.c_str(), format, nullptr);
  throw_if_no_memory(rc, path);
  if (rc < 0) return {.why = refusal(rc)};
  input.reset(context);
  keep_one_decodable(*context, type);
  if (std::string why = why_too_much(*context); !why.empty()) return {.why = std::move(why)};
  assume_formats(*context);
  rc = avformat_find_stream_info(context, nullptr);
  throw_if_no_memory(rc, path);
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
    throw BeyondLimit(
        k_sampling_rule,
        fmt::format("{} has {} channels of sound at {} Hz: at most {} channels and {} Hz are "
                    "possible",
                    path.string(), channels, rate_hz, k_most_channels, k_most_rate_hz));
}

void check_duration(double seconds, const MediaLimits& limits, const std::filesystem::path& path) {
  if (seconds > limits.max_duration_s)
    throw BeyondLimit(k_duration_rule,
                      fmt::format("{} lasts longer than {:.0f} s (media.max_duration_s)",
                                  path.string(), limits.max_duration_s));
}

}  // namespace navtalk::media
