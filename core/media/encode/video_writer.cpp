#include "core/media/encode/video_writer.h"

#include <cmath>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <thread>

#include "core/base/channel.h"
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/guarded.h"
#include "core/media/encode/muxer.h"
#include "core/media/encode/picture_encoder.h"
#include "core/media/encode/sound_track.h"
#include "core/media/pixels.h"

namespace navtalk {
namespace {

using media::FramePtr;

// Frames between the caller and the encoder: enough that neither waits for the other's jitter.
constexpr std::size_t k_frames = 4;
constexpr int k_largest_side = 16384;  // H.264's and WebP's

// Whether pictures can come as NV12.
bool takes_nv12(const VideoOptions& options) {
  const PictureCodec codec = options.format->pictures;
  return (codec == PictureCodec::h264 || codec == PictureCodec::vp9) && !options.lossless_rgb &&
         options.width % 2 == 0 && options.height % 2 == 0;
}

void check_options(const VideoOptions& options) {
  NAVTALK_CHECK(!options.nv12 || takes_nv12(options));
  const auto fits = [](int side) { return side > 0 && side <= k_largest_side; };
  if (!fits(options.width) || !fits(options.height))
    throw Error(Code::invalid, "a video of " + std::to_string(options.width) + "x" +
                                   std::to_string(options.height) + " pixels cannot be written");
  const FrameRate fastest = fastest_rate(*options.format);
  if (options.fps < 1 || options.fps > fastest)
    throw Error(Code::invalid,
                "a video of " + text(options.fps) + " frames per second cannot be written as " +
                    options.format->ending + ": 1 to " + text(fastest) + " are possible");
}

media::Muxer::Target target_of(const VideoOptions& options) {
  return {.path = options.path,
          .muxer = options.format->muxer,
          .to_standard_output = options.to_standard_output};
}

FramePtr picture(const AVCodecContext& encoder) {
  FramePtr frame = media::make_frame();
  frame->format = encoder.pix_fmt;
  frame->width = encoder.width;
  frame->height = encoder.height;
  if (av_frame_get_buffer(frame.get(), 0) < 0) throw std::bad_alloc();
  return frame;
}

}  // namespace

//  write(): caller's thread                    encoding thread
//    pop a blank frame  <----- blank_ --------- push it back
//    convert BGR into it                        the picture, the sound up to the same time, the file
//    push it            ------ filled_ -------> pop
// A failure of the encoding thread is kept, and closing the channels wakes the caller to throw it.
struct VideoWriter::Impl {
  VideoOptions options;
  media::Muxer muxer;
  media::PictureEncoder encoder;
  AVStream* stream;
  std::optional<media::SoundTrack> audio;
  Channel<FramePtr> blank{k_frames}, filled{k_frames};
  Guarded<std::exception_ptr> failure;
  std::int64_t frames = 0;
  std::stop_source abandon;  // without finish()
  std::jthread thread;       // last, so that it ends before what it uses

  explicit Impl(VideoOptions given)
      : options((check_options(given), std::move(given))),
        muxer(target_of(options)),
        encoder(media::open_picture_encoder(options)),
        stream(&muxer.add_stream(*encoder.codec)) {
    if (options.audio && options.format->sound != SoundCodec::none) {
      audio.emplace(media::SoundSource{.file = *options.audio,
                                       .start_s = options.audio_start_s,
                                       .stop = abandon.get_token(),
                                       .limits = options.audio_limits},
                    options.format->sound, muxer);
    }
    muxer.start();
    for (std::size_t i = 0; i < k_frames; ++i) blank.push(picture(*encoder.codec));
    thread = std::jthread([this] { run(); });
  }

  void run() {
    try {
      encode_all();
    } catch (...) {
      failure.with([](std::exception_ptr& kept) { kept = std::current_exception(); });
    }
    blank.close();
    filled.close();
  }

  void encode_all() {
    std::int64_t encoded = 0;
    while (std::optional<FramePtr> frame = filled.pop()) {
      if (abandon.stop_requested()) return;
      media::send(*encoder.codec, frame->get());
      muxer.drain(*encoder.codec, *stream);
      ++encoded;
      check_length(encoded);
      if (audio) audio->advance(options.fps.seconds(encoded));
      blank.push(std::move(*frame));
    }
    if (abandon.stop_requested()) return;
    media::send(*encoder.codec, nullptr);
    muxer.drain(*encoder.codec, *stream);
    if (audio) audio->finish(options.fps.seconds(encoded));
    muxer.finish();
  }

  void check_length(std::int64_t pictures) const {
    const VideoFormat& format = *options.format;
    if (format.longest_s == 0 || options.fps.seconds(pictures) <= format.longest_s) return;
    throw Error(Code::invalid, "a " + std::string(format.ending) + " lasts " +
                                   std::to_string(std::lround(format.longest_s)) +
                                   " s at most: write .mp4 or .webm, or a part of it");
  }

  // `fill` puts the picture into the encoder's frame.
  void write(int width, int height, const std::function<void(AVFrame&)>& fill) {
    if (width != options.width || height != options.height)
      throw Error(Code::invalid, "a frame of " + std::to_string(width) + "x" +
                                     std::to_string(height) + " does not fit the video " +
                                     options.path.string());
    std::optional<FramePtr> frame = blank.pop();
    if (!frame || av_frame_make_writable(frame->get()) < 0) {
      throw_failure();
      throw Error(Code::failed, options.path.string() + " is already finished");
    }
    fill(**frame);
    (*frame)->pts = frames++;
    filled.push(std::move(*frame));
  }

  void throw_failure() {
    const std::exception_ptr kept =
        failure.with([](const std::exception_ptr& error) { return error; });
    if (kept) std::rethrow_exception(kept);
  }
};

VideoWriter::VideoWriter(VideoOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

VideoWriter::~VideoWriter() {
  impl_->abandon.request_stop();
  impl_->filled.close();
}

void VideoWriter::write(ConstImageView bgr) {
  NAVTALK_CHECK(!impl_->options.nv12 && bgr.channels == 3);
  impl_->write(bgr.width, bgr.height, [&](AVFrame& frame) { impl_->encoder.convert(bgr, frame); });
}

void VideoWriter::write(const Nv12View& picture) {
  NAVTALK_CHECK(impl_->options.nv12);
  impl_->write(picture.width, picture.height,
               [&](AVFrame& frame) { media::nv12_to_yuv420(picture, frame); });
}

void VideoWriter::finish() {
  if (impl_->frames == 0)
    throw Error(Code::invalid, impl_->options.path.string() + ": a video without frames");
  impl_->filled.close();
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->throw_failure();
}

}  // namespace navtalk
