#include "core/media/encode/mp4_writer.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <thread>

#include "core/base/channel.h"
#include "core/base/error.h"
#include "core/base/guarded.h"
#include "core/media/encode/aac_track.h"
#include "core/media/encode/muxer.h"
#include "core/media/encode/x264_encoder.h"
#include "core/media/pixels.h"

namespace navtalk {
namespace {

using media::FramePtr;

// Frames between the caller and the encoder: enough that neither waits for the other's jitter.
constexpr std::size_t k_frames = 4;
constexpr int k_largest_side = 16384;  // H.264's

constexpr int even(int n) { return n + n % 2; }

void check_options(const Mp4Options& options) {
  const auto fits = [](int side) { return side > 0 && side <= k_largest_side; };
  if (!fits(options.width) || !fits(options.height))
    throw Error(Code::invalid, "a video of " + std::to_string(options.width) + "x" +
                                   std::to_string(options.height) + " pixels cannot be written");
  if (options.fps < 1 || options.fps > 1000)
    throw Error(Code::invalid, "a video of " + text(options.fps) +
                                   " frames per second cannot be written: 1 to 1000 are possible");
}

// libx264's AVX-512 code for macroblock trees reads memory that nobody set (build 164, widths that
// are no multiple of 256): the same pictures then gave another file each time. Its AVX2 code does
// not and is as fast.
const char* reproducible_code() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw")) return "asm=avx2";
#endif
  return "";
}

media::CodecPtr open_encoder(const Mp4Options& options) {
  return media::open_x264(
      {.width = even(options.width),
       .height = even(options.height),
       .fps = options.fps,
       .threads = options.threads,
       .crf = static_cast<double>(options.crf),
       .more = {{"preset", options.preset}, {"x264-params", reproducible_code()}}});
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
//    convert BGR into it                        x264, AAC up to the same time, MP4
//    push it            ------ filled_ -------> pop
// A failure of the encoding thread is kept, and closing the channels wakes the caller to throw it.
struct Mp4Writer::Impl {
  Mp4Options options;
  media::Muxer muxer;
  media::BgrToYuv420 to_yuv;
  media::CodecPtr encoder;
  AVStream* stream;
  std::optional<media::AacTrack> audio;
  Channel<FramePtr> blank{k_frames}, filled{k_frames};
  Guarded<std::exception_ptr> failure;
  std::int64_t frames = 0;
  std::stop_source abandon;  // without finish()
  std::jthread thread;       // last, so that it ends before what it uses

  explicit Impl(Mp4Options given)
      : options((check_options(given), std::move(given))),
        muxer(options.path),
        to_yuv(options.width, options.height),
        encoder(open_encoder(options)),
        stream(&muxer.add_stream(*encoder)) {
    if (options.audio) audio.emplace(*options.audio, abandon.get_token(), muxer);
    muxer.start();
    for (std::size_t i = 0; i < k_frames; ++i) blank.push(picture(*encoder));
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
      media::send(*encoder, frame->get());
      muxer.drain(*encoder, *stream);
      ++encoded;
      if (audio) audio->advance(options.fps.seconds(encoded));
      blank.push(std::move(*frame));
    }
    if (abandon.stop_requested()) return;
    media::send(*encoder, nullptr);
    muxer.drain(*encoder, *stream);
    if (audio) audio->finish(options.fps.seconds(encoded));
    muxer.finish();
  }

  void throw_failure() {
    const std::exception_ptr kept =
        failure.with([](const std::exception_ptr& error) { return error; });
    if (kept) std::rethrow_exception(kept);
  }
};

Mp4Writer::Mp4Writer(Mp4Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Mp4Writer::~Mp4Writer() {
  impl_->abandon.request_stop();
  impl_->filled.close();
}

void Mp4Writer::write(ConstImageView bgr) {
  const Mp4Options& options = impl_->options;
  if (bgr.width != options.width || bgr.height != options.height || bgr.channels != 3)
    throw Error(Code::invalid, "a frame of " + std::to_string(bgr.width) + "x" +
                                   std::to_string(bgr.height) + " does not fit the video " +
                                   options.path.string());
  std::optional<FramePtr> frame = impl_->blank.pop();
  if (!frame || av_frame_make_writable(frame->get()) < 0) {
    impl_->throw_failure();
    throw Error(Code::failed, options.path.string() + " is already finished");
  }
  impl_->to_yuv.convert(bgr, **frame);
  (*frame)->pts = impl_->frames++;
  impl_->filled.push(std::move(*frame));
}

void Mp4Writer::finish() {
  if (impl_->frames == 0)
    throw Error(Code::invalid, impl_->options.path.string() + ": a video without frames");
  impl_->filled.close();
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->throw_failure();
}

}  // namespace navtalk
