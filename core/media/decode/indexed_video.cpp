#include "core/media/decode/indexed_video.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/media/decode/mp4_samples.h"
#include "core/media/decode/open_media.h"
#include "core/media/pixels.h"

namespace navtalk {
namespace {

[[noreturn]] void refuse_video(const std::filesystem::path& path, const std::string& why) {
  throw Error(Code::invalid, fmt::format("{}: {}", path.string(), why));
}

media::CodecPtr open_decoder(const AVStream* stream, const IndexedVideo::Options& options,
                             const std::filesystem::path& path) {
  const AVCodec* codec = avcodec_find_decoder(AV_CODEC_ID_H264);
  media::CodecPtr decoder(avcodec_alloc_context3(codec));
  if (!decoder || avcodec_parameters_to_context(decoder.get(), stream->codecpar) < 0)
    refuse_video(path, "damaged video parameters");
  decoder->thread_count = options.threads;
  decoder->max_pixels = media::decoder_max_pixels(options.limits);
  decoder->pkt_timebase = stream->time_base;
  if (avcodec_open2(decoder.get(), codec, nullptr) < 0)
    refuse_video(path, "the video cannot be decoded");
  return decoder;
}

}  // namespace

struct IndexedVideo::Impl {
  std::filesystem::path path;
  std::ifstream file;
  media::CodecPtr decoder;
  media::FrameToBgr to_bgr;
  int width = 0, height = 0;
  std::optional<FrameRate> rate;
  std::size_t capacity = 2;  // decoded pictures kept

  std::vector<media::Sample> samples;                    // decoding order
  std::vector<std::size_t> sample_of;                    // presentation index -> sample
  std::unordered_map<std::int64_t, std::int64_t> index;  // pts -> presentation index

  std::unordered_map<std::int64_t, media::FramePtr> cache;
  std::deque<std::int64_t> cached_order;  // oldest first
  std::size_t next_sample = 0;            // the next one that the decoder gets
  std::int64_t last_shown = -1;           // the last picture that came out; -1 after a jump
  std::int64_t first_whole = 0;           // pictures before it lean on what was jumped over
  bool drained =
      false;  // the end was sent: the decoder gives what it still holds, and takes more after a jump only

  void build_index();
  std::size_t start_for(std::int64_t wanted) const;
  void jump(std::size_t sample);
  void feed(std::int64_t wanted);
  std::optional<std::int64_t> receive(std::int64_t keep_from);
  void keep(std::int64_t shown, media::FramePtr picture);
  const AVFrame& picture(std::int64_t wanted);
};

void IndexedVideo::Impl::build_index() {
  sample_of.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) sample_of[i] = i;
  std::sort(sample_of.begin(), sample_of.end(),
            [&](std::size_t a, std::size_t b) { return samples[a].pts < samples[b].pts; });
  for (std::size_t i = 0; i < sample_of.size(); ++i) {
    const bool fresh =
        index.emplace(samples[sample_of[i]].pts, static_cast<std::int64_t>(i)).second;
    if (!fresh) refuse_video(path, fmt::format("frames {} and {} have one time", i - 1, i));
  }
}

// The last key sample before the wanted picture in both orders: pictures that are decoded after a
// key sample but shown before it may lean on pictures before it.
std::size_t IndexedVideo::Impl::start_for(std::int64_t wanted) const {
  std::size_t sample = sample_of[static_cast<std::size_t>(wanted)];
  const std::int64_t pts = samples[sample].pts;
  while (sample > 0 && !(samples[sample].key && samples[sample].pts <= pts)) --sample;
  return sample;
}

void IndexedVideo::Impl::jump(std::size_t sample) {
  avcodec_flush_buffers(decoder.get());
  next_sample = sample;
  last_shown = -1;
  first_whole = index.at(samples[sample].pts);
  drained = false;
}

void IndexedVideo::Impl::feed(std::int64_t wanted) {
  if (next_sample == samples.size()) {
    if (drained || avcodec_send_packet(decoder.get(), nullptr) < 0)
      refuse_video(path, fmt::format("frame {} cannot be decoded", wanted));
    drained = true;
    return;
  }
  const media::Sample& sample = samples[next_sample];
  const media::PacketPtr packet = media::make_packet();
  if (av_new_packet(packet.get(), sample.size) < 0) refuse_video(path, "out of memory");
  file.clear();
  file.seekg(sample.position);
  // iostream wants char; the packet holds the same bytes.
  if (!file.read(reinterpret_cast<char*>(packet->data), sample.size))
    refuse_video(path, "the file became shorter while in use");
  packet->pts = sample.pts;
  packet->dts = sample.dts;
  packet->flags = sample.key ? AV_PKT_FLAG_KEY : 0;
  if (avcodec_send_packet(decoder.get(), packet.get()) < 0)
    refuse_video(path, fmt::format("frame {} cannot be decoded", wanted));
  ++next_sample;
}

void IndexedVideo::Impl::keep(std::int64_t shown, media::FramePtr picture) {
  if (cache.contains(shown)) return;
  while (cached_order.size() >= capacity) {
    cache.erase(cached_order.front());
    cached_order.pop_front();
  }
  cache.emplace(shown, std::move(picture));
  cached_order.push_back(shown);
}

// The number of the next picture that the decoder gives, nullopt when it wants more input.
std::optional<std::int64_t> IndexedVideo::Impl::receive(std::int64_t keep_from) {
  media::FramePtr picture = media::make_frame();
  const int rc = avcodec_receive_frame(decoder.get(), picture.get());
  if (rc == AVERROR(EAGAIN)) return std::nullopt;
  if (rc < 0) refuse_video(path, fmt::format("the video breaks off after frame {}", last_shown));
  const auto found = index.find(picture->pts);
  if (found == index.end()) refuse_video(path, "the video's times disagree with its index");
  const std::int64_t shown = found->second;
  if (shown < first_whole) return shown;
  if (picture->decode_error_flags != 0 || (picture->flags & AV_FRAME_FLAG_CORRUPT) != 0)
    refuse_video(path, fmt::format("frame {} is damaged", shown));
  if (picture->width != width || picture->height != height)
    refuse_video(path, fmt::format("frame {} has another size", shown));
  last_shown = shown;
  if (shown >= keep_from) keep(shown, std::move(picture));
  return shown;
}

const AVFrame& IndexedVideo::Impl::picture(std::int64_t wanted) {
  if (const auto hit = cache.find(wanted); hit != cache.end()) return *hit->second;
  const std::size_t start = start_for(wanted);
  const bool runs_on = last_shown >= 0 && last_shown < wanted && start <= next_sample;
  if (!runs_on) jump(start);
  const std::int64_t keep_from = wanted - static_cast<std::int64_t>(capacity) + 1;
  while (!cache.contains(wanted)) {
    const std::optional<std::int64_t> shown = receive(keep_from);
    if (!shown) feed(wanted);
    if (shown && *shown > wanted && !cache.contains(wanted))
      refuse_video(path, fmt::format("frame {} cannot be decoded", wanted));
  }
  return *cache.at(wanted);
}

IndexedVideo::IndexedVideo(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
IndexedVideo::IndexedVideo(IndexedVideo&&) noexcept = default;
IndexedVideo& IndexedVideo::operator=(IndexedVideo&&) noexcept = default;
IndexedVideo::~IndexedVideo() = default;

IndexedVideo IndexedVideo::open(const std::filesystem::path& path, const Options& options) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  media::capture_log();
  media::ByteSource source(path, {});
  const media::InputPtr format = media::open_mp4(source, path, options.limits);
  const AVStream* stream = media::h264_stream(format.get(), path, options.limits);
  impl->samples = media::read_samples(format.get(), stream, path);
  impl->build_index();
  impl->decoder = open_decoder(stream, options, path);
  impl->width = stream->codecpar->width;
  impl->height = stream->codecpar->height;
  impl->rate = media::frame_rate(stream->avg_frame_rate);
  impl->file.open(path, std::ios::binary);
  // Of a pixel, in half bytes: three in 4:2:0, six in RGB.
  const std::size_t halves = stream->codecpar->format == AV_PIX_FMT_GBRP ? 6 : 3;
  const std::size_t picture_bytes =
      static_cast<std::size_t>(impl->width) * impl->height * halves / 2;
  impl->capacity =
      std::max<std::size_t>(2, options.cache_bytes / std::max<std::size_t>(1, picture_bytes));
  return IndexedVideo(std::move(impl));
}

int IndexedVideo::width() const { return impl_->width; }
int IndexedVideo::height() const { return impl_->height; }
std::optional<FrameRate> IndexedVideo::rate() const { return impl_->rate; }
std::int64_t IndexedVideo::frame_count() const {
  return static_cast<std::int64_t>(impl_->samples.size());
}

bool IndexedVideo::keeps_all() const { return impl_->samples.size() <= impl_->capacity; }

Image IndexedVideo::frame(std::int64_t index) {
  NAVTALK_CHECK(index >= 0 && index < frame_count());
  const AVFrame& picture = impl_->picture(index);
  Image image(impl_->width, impl_->height);
  impl_->to_bgr.convert(picture, image.view());
  return image;
}

void IndexedVideo::check_all() {
  for (std::int64_t i = 0; i < frame_count(); ++i) impl_->picture(i);
}

}  // namespace navtalk
