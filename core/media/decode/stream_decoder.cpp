#include "core/media/decode/stream_decoder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <thread>

#include "core/base/interrupt.h"
#include "core/files/whole_file.h"
#include "core/media/decode/open_media.h"
#include "core/media/decode/picture/metadata.h"
#include "core/media/decode/vorbis_setup.h"

namespace navtalk::media {
namespace {

// FFmpeg's own AV_TIME_BASE_Q is a C literal, which clang refuses in C++.
constexpr AVRational k_container_clock{1, AV_TIME_BASE};

// Beyond a few threads a decoder gains little and holds one more frame for each.
constexpr unsigned k_most_threads = 4;
// Containers round their durations, and some do not say how long the last packet lasts.
double duration_slack_s(const AVStream& stream) {
  const double fps = stream.avg_frame_rate.den > 0 ? av_q2d(stream.avg_frame_rate) : 0;
  return std::max(0.25, fps > 0 ? 2 / fps : 0.0);
}

const char* kind(AVMediaType type) { return type == AVMEDIA_TYPE_VIDEO ? "video" : "audio"; }

double to_seconds(std::int64_t timestamp, AVRational base) {
  return static_cast<double>(timestamp) * av_q2d(base);
}

std::string at(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", seconds);
  return text.data();
}

}  // namespace

StreamDecoder::StreamDecoder(Options options)
    : options_(std::move(options)),
      source_(options_.file ? std::move(options_.file) : navtalk::open_input(options_.path),
              options_.path, options_.stop),
      packet_(make_packet()) {
  open_input();
  open_codec();
}

void StreamDecoder::open_input() {
  OpenedMedia opened =
      open_media(source_, options_.path, Accept::any_container, options_.type, options_.limits);
  throw_if_stopped(options_.stop);
  if (!opened.input) source_.throw_if_failed();
  if (!opened.input)
    throw Error(Code::invalid, options_.path.string() + " cannot be read as " +
                                   kind(options_.type) + ": " + opened.why);
  input_ = std::move(opened.input);
}

void StreamDecoder::open_codec() {
  const std::string name = options_.path.string();
  const AVCodec* decoder = nullptr;
  const int index = av_find_best_stream(input_.get(), options_.type, -1, -1, &decoder, 0);
  if (index == AVERROR_DECODER_NOT_FOUND)
    throw Error(Code::invalid, name + ": there is no decoder for its " + kind(options_.type));
  if (index < 0 || (input_->streams[index]->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0)
    throw Error(Code::invalid, name + " has no " + kind(options_.type) + " stream");
  stream_ = input_->streams[index];
  check_limits(*input_, *stream_, options_.limits, options_.path);
  codec_.reset(avcodec_alloc_context3(decoder));
  if (!codec_) throw std::bad_alloc();
  int rc = avcodec_parameters_to_context(codec_.get(), stream_->codecpar);
  codec_->pkt_timebase = stream_->time_base;
  codec_->codec_whitelist = av_strdup(allowed_decoders());
  codec_->max_pixels = decoder_max_pixels(options_.limits);
  if (options_.type == AVMEDIA_TYPE_VIDEO) {
    codec_->thread_count =
        static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, k_most_threads));
  }
  if (rc >= 0) rc = avcodec_open2(codec_.get(), decoder, nullptr);
  throw_if_no_memory(rc, options_.path);
  if (rc < 0)
    throw Error(Code::invalid,
                name + ": its " + kind(options_.type) + " cannot be decoded: " + reason(rc));
}

bool StreamDecoder::next(AVFrame& frame) {
  for (;;) {
    throw_if_stopped(options_.stop);
    const int rc = avcodec_receive_frame(codec_.get(), &frame);
    if (rc == 0) {
      if ((frame.flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame.decode_error_flags != 0)
        damaged("a broken frame");
      if (damage_ && packets_ > damaged_packet_) throw *damage_;
      ++frames_;
      return true;
    }
    if (rc == AVERROR_EOF) {
      check_end();
      return false;
    }
    if (rc != AVERROR(EAGAIN)) failed(rc);
    feed();
  }
}

int StreamDecoder::read_packet() {
  for (;;) {
    av_packet_unref(packet_.get());
    const int rc = av_read_frame(input_.get(), packet_.get());
    throw_if_stopped(options_.stop);
    if (rc < 0) return rc;
    if (packet_->pts != AV_NOPTS_VALUE) {
      const AVRational base = input_->streams[packet_->stream_index]->time_base;
      read_until_s_ = std::max(read_until_s_, to_seconds(packet_->pts + packet_->duration, base));
    }
    if (packet_->stream_index != stream_->index) continue;
    position_s_ = std::max(position_s_, seconds(packet_->pts));
    check_duration(position_s_, options_.limits, options_.path);
    return rc;
  }
}

void StreamDecoder::feed() {
  int rc = read_packet();
  if (rc < 0) {
    if (rc != AVERROR_EOF) failed(rc);
    avcodec_send_packet(codec_.get(), nullptr);
    return;
  }
  ++packets_;
  drop_metadata(codec_->codec_id, *packet_);
  // A stream may begin anew, with headers of its own.
  if (codec_->codec_id == AV_CODEC_ID_VORBIS && packet_->size > 0 &&
      vorbis_codebook_bytes({packet_->data, static_cast<std::size_t>(packet_->size)}) >
          k_most_codebook_bytes)
    throw Error(Code::invalid, options_.path.string() +
                                   ": a Vorbis header describes more than any encoder writes");
  // FFmpeg takes the end of a WAV file that announces more for damage, even where the program that
  // wrote it could not know.
  if ((packet_->flags & AV_PKT_FLAG_CORRUPT) != 0 && !is_wav()) damaged("the data are cut off");
  rc = avcodec_send_packet(codec_.get(), packet_.get());
  if (rc < 0) failed(rc);
}

void StreamDecoder::failed(int error_code) {
  throw_if_no_memory(error_code, options_.path);
  damaged(reason(error_code));
}

void StreamDecoder::check_end() {
  if (packets_ == 0 && !damage_)
    throw Error(Code::invalid,
                options_.path.string() + " is empty: it holds no " + kind(options_.type));
  if (frames_ == 0) damaged("nothing can be decoded");
  if (damage_ && frames_ == 0) throw *damage_;
  if (damage_) return;
  const int promised = avformat_index_get_entries_count(stream_);
  // The index of sound counts samples or chunks, not what packets are.
  if (options_.type == AVMEDIA_TYPE_VIDEO && promised > packets_)
    damaged("the file ends after " + std::to_string(packets_) + " of " + std::to_string(promised) +
            " frames");
  check_length();
}

bool StreamDecoder::is_wav() const { return std::strcmp(input_->iformat->name, "wav") == 0; }

void StreamDecoder::check_length() {
  const bool duration_known = input_->duration != AV_NOPTS_VALUE &&
                              input_->duration_estimation_method == AVFMT_DURATION_FROM_STREAM;
  if (!duration_known) return;
  const double start_s = input_->start_time == AV_NOPTS_VALUE
                             ? 0.0
                             : to_seconds(input_->start_time, k_container_clock);
  const double end_s = start_s + to_seconds(input_->duration, k_container_clock);
  if (read_until_s_ < end_s - duration_slack_s(*stream_))
    damaged("the file ends there and should last " + at(end_s - start_s));
}

void StreamDecoder::damaged(const std::string& what) {
  source_.throw_if_failed();
  Error error(Code::invalid,
              options_.path.string() + " is damaged at " + at(position_s_) + ": " + what);
  if (options_.damage == Damage::refuse) throw error;
  if (!damage_) {
    damage_ = std::move(error);
    damaged_packet_ = packets_;
  }
}

double StreamDecoder::seconds(std::int64_t timestamp) const {
  if (timestamp == AV_NOPTS_VALUE) return position_s_;
  const std::int64_t start = stream_->start_time == AV_NOPTS_VALUE ? 0 : stream_->start_time;
  return to_seconds(timestamp - start, stream_->time_base);
}

}  // namespace navtalk::media
