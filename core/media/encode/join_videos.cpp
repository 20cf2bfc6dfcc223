#include "core/media/encode/join_videos.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/media/decode/open_media.h"
#include "core/media/encode/muxer.h"
#include "core/media/encode/sound_track.h"
#include "core/media/ffmpeg.h"

namespace navtalk {
namespace {

[[noreturn]] void fail_part(const std::filesystem::path& path, const std::string& why) {
  throw Error(Code::failed, path.string() + " cannot be joined with the other parts: " + why);
}

// One part, and its pictures in the order of decoding.
class PartOfVideo {
 public:
  PartOfVideo(const std::filesystem::path& path, AVRational frame)
      : path_(path),
        bytes_(path, {}),
        opened_(media::open_media(bytes_, path, media::Accept::mp4_only, AVMEDIA_TYPE_VIDEO, {})) {
    if (!opened_.input) fail_part(path, opened_.why);
    const int index =
        av_find_best_stream(opened_.input.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    if (index < 0) fail_part(path, "it has no pictures");
    stream_ = opened_.input->streams[index];
    read(frame);
  }

  const AVCodecParameters& codec() const { return *stream_->codecpar; }
  std::vector<media::PacketPtr>& packets() { return packets_; }
  // Pictures by which decoding begins before the first one is shown.
  std::int64_t delay() const { return delay_; }
  // When the picture is shown, in pictures from the part's first one.
  std::int64_t shown(const AVPacket& packet) const { return packet.pts - first_shown_; }

 private:
  void read(AVRational frame) {
    media::PacketPtr packet = media::make_packet();
    int rc = 0;
    while ((rc = av_read_frame(opened_.input.get(), packet.get())) >= 0) {
      if (packet->stream_index == stream_->index) {
        if (packet->pts == AV_NOPTS_VALUE || packet->dts == AV_NOPTS_VALUE)
          fail_part(path_, "it has pictures without a time");
        av_packet_rescale_ts(packet.get(), stream_->time_base, frame);
        packets_.push_back(std::exchange(packet, media::make_packet()));
      }
      av_packet_unref(packet.get());
    }
    if (rc != AVERROR_EOF) fail_part(path_, media::reason(rc));
    if (packets_.empty()) fail_part(path_, "it has no pictures");
    first_shown_ =
        (*std::ranges::min_element(packets_, {}, [](const auto& one) { return one->pts; }))->pts;
    delay_ = first_shown_ - packets_.front()->dts;  // writing a packet empties it
  }

  std::filesystem::path path_;
  media::ByteSource bytes_;
  media::OpenedMedia opened_;
  const AVStream* stream_ = nullptr;
  std::vector<media::PacketPtr> packets_;  // times in pictures
  std::int64_t first_shown_ = 0, delay_ = 0;
};

bool decode_alike(const AVCodecParameters& a, const AVCodecParameters& b) {
  return a.codec_id == b.codec_id && a.width == b.width && a.height == b.height &&
         std::equal(a.extradata, a.extradata + a.extradata_size, b.extradata,
                    b.extradata + b.extradata_size);
}

}  // namespace

std::int64_t join_videos(std::span<const std::filesystem::path> parts, const VideoOptions& whole,
                         const std::stop_token& stop, const std::function<void()>& written) {
  if (parts.empty())
    throw Error(Code::failed, whole.path.string() + " cannot be joined of no parts");
  media::capture_log();
  const AVRational frame{whole.fps.den(), whole.fps.num()};
  PartOfVideo first(parts.front(), frame);
  media::Muxer muxer({.path = whole.path, .muxer = whole.format->muxer});
  const AVStream& stream = muxer.add_stream(first.codec(), frame);
  std::optional<media::SoundTrack> sound;
  if (whole.audio && whole.format->sound != SoundCodec::none) {
    sound.emplace(media::SoundSource{.file = *whole.audio,
                                     .start_s = whole.audio_start_s,
                                     .stop = stop,
                                     .limits = whole.audio_limits},
                  whole.format->sound, muxer);
  }
  muxer.start();
  std::int64_t pictures = 0;
  const auto append = [&](PartOfVideo& part) {
    const std::int64_t begin = pictures;
    for (const media::PacketPtr& packet : part.packets()) {
      throw_if_stopped(stop);
      packet->pts = begin + part.shown(*packet);
      packet->dts = pictures - first.delay();
      packet->duration = 1;
      packet->pos = -1;
      muxer.write(*packet, stream, frame);
      ++pictures;
      if (sound) sound->advance(whole.fps.seconds(pictures));
      if (written) written();
    }
  };
  for (std::size_t i = 1; i <= parts.size(); ++i) {
    if (i == 1) {
      append(first);
    } else {
      PartOfVideo part(parts[i - 1], frame);
      if (!decode_alike(first.codec(), part.codec()))
        fail_part(parts[i - 1], "it was coded in another way");
      append(part);
    }
  }
  if (sound) sound->finish(whole.fps.seconds(pictures));
  muxer.finish();
  return pictures;
}

}  // namespace navtalk
