#include "avatars/render/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "avatars/bundle/device_frame.h"
#include "avatars/render/speech_windows.h"
#include "core/base/channel.h"
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "gpu/features/mel.h"
#include "gpu/image/color.h"

namespace navtalk {
namespace {

// Between the thread of the nets and the caller's, which shows what they made: one being shown, one
// waiting, so that neither stands still.
constexpr std::size_t k_chunks_ahead = 1;

// Consecutive output frames [first, first + count), and their faces, one for each frame that has
// one; or all of them as the device finished them.
struct Chunk {
  std::int64_t first = 0, count = 0;
  std::vector<std::int64_t> with_face;
  NdArray<std::uint8_t> faces;            // [k,256,256,3] BGR
  std::vector<FinishedPicture> pictures;  // of all frames, where they are finished
};

// As the device's: chroma is the mean of 2x2 pixels.
FinishedPicture as_nv12(const Image& frame) {
  const auto bytes =
      std::make_shared<std::vector<std::uint8_t>>(yuv420_bytes(frame.width, frame.height));
  bgr_to_nv12(frame.view(), bytes->data());
  return {.data = {bytes, bytes->data()}, .bytes = bytes->size()};
}

class Renderer {
 public:
  Renderer(Model& model, const Bundle& avatar, SpeechWindows& speech, const RenderOptions& options)
      : model_(model), avatar_(avatar), speech_(speech), options_(options) {}

  Chunk infer(std::int64_t first, std::int64_t count) {
    Chunk chunk{.first = first, .count = count};
    for (std::int64_t t = first; t < first + count; ++t) {
      if (avatar_.face(slot(t))) chunk.with_face.push_back(t);
    }
    if (options_.on_device) {
      chunk.pictures = pictures(chunk);
      return chunk;
    }
    if (chunk.with_face.empty()) return chunk;
    NdArray<float> latents(
        {static_cast<std::int64_t>(chunk.with_face.size()), 8, k_latent_size, k_latent_size});
    for (std::size_t k = 0; k < chunk.with_face.size(); ++k) {
      const NdArray<float> latent = avatar_.latent(slot(chunk.with_face[k]));
      std::ranges::copy(latent.values, latents.row(static_cast<std::int64_t>(k)));
    }
    const NdArray<float> windows = speech_.windows(chunk.with_face);
    chunk.faces =
        options_.faces ? options_.faces(latents, windows) : model_.faces(latents, windows);
    return chunk;
  }

  // A faceless frame is shown as it is.
  void show(const Chunk& chunk, const FrameSink& sink) const {
    if (options_.on_device) {
      const AvatarInfo& info = avatar_.info();
      for (std::int64_t i = 0; i < chunk.count; ++i)
        sink(chunk.first + i, speech_.frame_count(),
             Nv12View{chunk.pictures[static_cast<std::size_t>(i)].data.get(), info.width,
                      info.height});
      return;
    }
    std::size_t k = 0;
    for (std::int64_t t = chunk.first; t < chunk.first + chunk.count; ++t) {
      Image frame = avatar_.frame(slot(t));
      if (k < chunk.with_face.size() && chunk.with_face[k] == t) {
        const AvatarFace& face = *avatar_.face(slot(t));
        const ConstImageView generated{chunk.faces.row(static_cast<std::int64_t>(k)), k_face_size,
                                       k_face_size, 3, std::ptrdiff_t{k_face_size} * 3};
        compose(frame.view(), generated, face.placement, avatar_.mask(slot(t)), face.mask_region,
                options_.finish);
        ++k;
      }
      sink(t, speech_.frame_count(), ConstImageView(frame.view()));
    }
  }

 private:
  std::vector<FinishedPicture> pictures(const Chunk& chunk) {
    std::vector<FinishedPicture> made;
    if (!chunk.with_face.empty()) {
      std::vector<PlacedFrame> frames;
      for (const std::int64_t t : chunk.with_face) {
        frames.push_back(*placed_frame(avatar_, slot(t),
                                       [this, index = slot(t)] { return avatar_.frame(index); }));
        frames.back().finish = options_.finish;
      }
      made = model_.pictures(frames, speech_.windows(chunk.with_face));
    }
    std::vector<FinishedPicture> all;
    std::size_t k = 0;
    for (std::int64_t t = chunk.first; t < chunk.first + chunk.count; ++t) {
      const bool with_face = k < chunk.with_face.size() && chunk.with_face[k] == t;
      all.push_back(with_face ? std::move(made[k++]) : as_nv12(avatar_.frame(slot(t))));
    }
    return all;
  }

  std::int64_t slot(std::int64_t t) const { return shown_frame(avatar_.info(), options_.fps, t); }

  Model& model_;
  const Bundle& avatar_;
  SpeechWindows& speech_;
  const RenderOptions& options_;
};

}  // namespace

std::int64_t faces_per_pass(const Model& model, int batch) {
  return batch > 0 ? batch : model.info().execution.batch;
}

bool renders_on_device(const Model& model, const AvatarInfo& avatar) {
  return model.info().pictures_on_device && finishes_on_device(avatar);
}

void render(Model& model, const Bundle& avatar, Audio audio, const RenderOptions& options,
            const FrameSink& sink, const std::stop_token& stop) {
  NAVTALK_CHECK(!options.on_device || (!options.faces && renders_on_device(model, avatar.info())));
  const double duration_s = audio.duration_s();
  if (audio.rate_hz != k_sample_rate_hz) audio = resample(audio, k_sample_rate_hz);
  SpeechWindows speech(model, std::move(audio.samples), options.fps);
  if (speech.frame_count() == 0) {
    throw Error(Code::invalid,
                fmt::format("the audio lasts {:.0f} ms, less than one video frame of {:.0f} ms",
                            1000.0 * duration_s, 1000.0 * options.fps.seconds(1)));
  }
  Renderer renderer(model, avatar, speech, options);
  const std::int64_t batch = faces_per_pass(model, options.batch);
  Channel<Chunk> made(k_chunks_ahead);
  std::exception_ptr failure;
  std::jthread nets([&](const std::stop_token& unwanted) {
    try {
      for (const FrameRange& range : options.wanted) {
        const std::int64_t last = std::min(range.last, speech.frame_count());
        for (std::int64_t t = range.first; t < last; t += batch) {
          throw_if_stopped(stop);
          Chunk chunk = renderer.infer(t, std::min(batch, last - t));
          if (!made.push(std::move(chunk), unwanted)) return;
        }
      }
    } catch (...) {
      failure = std::current_exception();
    }
    made.close();
  });
  while (const std::optional<Chunk> chunk = made.pop()) {
    throw_if_stopped(stop);
    renderer.show(*chunk, sink);
  }
  nets.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace navtalk
