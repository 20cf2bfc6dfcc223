// What the inference engine asks of the code that owns a device's nets: a batch of requests in, a picture for
// each out. Everything here is plain values; nothing needs torch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor/ndarray.h"
#include "core/tensor/video_picture.h"

namespace navtalk {

// An avatar as the backend keeps it for one session: its clip, its latents, the size of its pictures.
class EngineAvatar {
 public:
  virtual ~EngineAvatar() = default;
};

// What the lips of one picture hear.
struct SoundWindow {
  std::vector<std::int16_t> samples{};  // mono PCM, past and future of the picture
  std::size_t first = 0;                // of `samples`: heard when the picture is shown
  int rate_hz = 16000;
  std::int64_t begin = 0;  // of `samples` in the session's sound: equal windows have equal samples
};

// What is shown of an avatar's clips: a frame, or two while one clip passes into another.
struct ClipFrame {
  std::int64_t index = 0;
  std::int64_t before = -1;  // of the clip that fades out; -1: none does
  float weight = 1;          // of `index`, above 0, to 1

  friend bool operator==(const ClipFrame&, const ClipFrame&) = default;
};

// A face that an offline rendering asks for, of sound that it has heard itself: it composes and codes its frames in a
// process of its own.
struct OfflineFace {
  NdArray<float> latent{};       // [1,8,32,32]
  NdArray<float> window{};       // [1,T,D], before the positional table
  NdArray<std::uint8_t> face{};  // made: [256,256,3] BGR
};

struct PictureRequest {
  using Clock = std::chrono::steady_clock;

  std::uint64_t session = 0;  // or the job
  std::shared_ptr<EngineAvatar> avatar{};
  std::chrono::microseconds time{};  // of presentation
  ClipFrame frame{};
  float lips = 1;  // how much of the generated mouth is seen: above 0, to 1
  SoundWindow sound{};
  Clock::time_point deadline{};  // a batch that begins later leaves the request out
  // Of a job: made instead of a picture, and nothing of what stands above but `session` counts.
  std::shared_ptr<OfflineFace> offline{};
};

// The rest of a picture's making, on the thread that calls it, once: on a CPU the face is put into its frame,
// scaled and converted; a finished picture of a GPU is copied out of the memory that both share, or stays on the GPU. The buffer is
// the caller's.
using FinishPicture = std::function<VideoPicture()>;

class EngineBackend {
 public:
  struct Made {
    std::vector<FinishPicture>
        pictures{};  // one for each request, in their order; empty ones of jobs
    std::chrono::microseconds features{};  // of the time: hearing; the rest is drawing
  };

  virtual ~EngineBackend() = default;
  // On the thread of one of the engine's lanes, several of which call it at the same time. Requests of one session stand
  // in the order of their times, those of jobs behind all others. `heard` says that what depends on this order is over: no later request of these sessions
  // is given to any lane before `heard` was called or the batch has ended. OutOfMemory: the device has none for so many
  // at once, and the batch comes again in smaller ones; any other exception fails every request of the batch.
  virtual Made make(std::span<const PictureRequest> batch, const std::function<void()>& heard) = 0;
  // On the thread of each lane, before the first batch that the nets make there: what is prepared once for each thread and
  // each size. For one face, then for twice as many each time, up to the largest batch; OutOfMemory: no batch of that
  // size is ever to be made.
  virtual void warm_up(std::size_t /*faces*/) {}
  // The device had no memory for a batch of `faces`; those that follow have `next` at most. The place to give back what
  // can be made again. On the thread of a lane.
  virtual void on_out_of_memory(std::size_t /*faces*/, std::size_t /*next*/) {}
};

}  // namespace navtalk
