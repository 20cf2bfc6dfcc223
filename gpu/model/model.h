// MuseTalk's nets, loaded and ready: whisper encoder, UNet at t = 0, VAE encoder and decoder. One
// object per device, apart from a decoder that runs elsewhere; several threads may call it at the same time. Weights are folded and
// prepacked when loaded. Everything that crosses this interface is plain host memory in fp32 or
// bytes, whatever the nets compute in.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/image.h"
#include "core/tensor/ndarray.h"
#include "gpu/cuda/graphs/graph_recorder.h"
#include "gpu/device/device.h"
#include "gpu/model/placed_frame.h"
#include "gpu/nets/execution.h"
#include "gpu/nets/net_config.h"

namespace navtalk {

struct ModelInfo {
  int context_rows = 0;   // T = 10 * (whisper layers + 1)
  int context_width = 0;  // D
  int whisper_layers = 0;
  Execution execution;
  bool pictures_on_device = false;  // Model::pictures() is there
  // The GPU that finishes pictures, as CUDA counts; 0 for the CPU in a GPU's place.
  int finishing_gpu = 0;
  // Of the nets that run on a GPU: what their weights take of it. Zero: none does, and Model::pause() has nothing to move.
  std::uint64_t weight_bytes = 0;
};

class Model {
 public:
  struct Options {
    std::filesystem::path models;  // MuseTalk's checkpoint folder
    Device device;
    // Where the VAE's decoder runs, in a number format of that device; nullopt: where everything else does.
    std::optional<Device> decoder_device{};
    std::optional<Precision> precision;             // nullopt: what is fastest here, net by net
    WeightFormat weights = WeightFormat::computed;  // int8: of nets on a GPU only
    int threads = 0;  // 0, or more than there are: every core this process may use
    // The decoder takes what decode_raw() is given as one batch and rounds as the reference does
    // with one, which is less exact than what it does with single latents. For comparisons only.
    bool decode_as_batch = false;
    // What a GPU computes with, on the CPU, but for a decoder that is placed on the CPU by name: libtorch's operators, fp16 too. Slow; for comparisons only.
    bool as_on_gpu = false;
    // On a GPU: the UNet is recorded for 1, 2, 4 and 8 faces, the decoder for 1 and 2, and replayed as graphs; false: launched kernel by kernel. The
    // same bytes either way.
    bool graphs = true;
    // Records for as_on_gpu, in place of a GPU's own. For tests.
    std::shared_ptr<cuda::GraphRecorder> recorder{};
    // Device memory for frames of avatars, until limit_frames(); nullopt: a quarter of what the loaded nets leave free.
    std::optional<std::size_t> frame_bytes{};
    bool whisper = true, unet = true, vae_decoder = true, vae_encoder = true;  // what to load
  };

  // Strict: Error{invalid} names a missing, surplus or mis-shaped tensor; Error{invalid} for
  // what this machine or build cannot do, such as int8 weights where all nets run on the CPU.
  static Model load(const Options& options);
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const ModelInfo& info() const;

  // [S,80,2n] of n tokens, 1500 in the reference -> stacked hidden states [S,n,L+1,D], the last one
  // normed. Shorter segments cost less; whisper then hears less silence behind the sound.
  NdArray<float> whisper_states(const NdArray<float>& mel);
  // The states of the tokens [first, first + count) only, [S,count,L+1,D], for less: all of them
  // hear each other in every layer but the last.
  NdArray<float> whisper_states(const NdArray<float>& mel, std::int64_t first, std::int64_t count);
  // K crops of 256x256 BGR -> latents [K,8,32,32]: masked then reference, distribution mean times
  // the scaling factor.
  NdArray<float> encode(std::span<const ConstImageView> crops);
  // [B,8,32,32], [B,T,D] after the positional table -> [B,4,32,32].
  NdArray<float> unet(const NdArray<float>& latent, const NdArray<float>& context);
  // [B,4,32,32], still scaled -> the decoder's output [B,3,256,256], RGB in about [-1,1].
  NdArray<float> decode_raw(const NdArray<float>& latent);
  // The same, rounded half to even: [B,256,256,3] BGR.
  NdArray<std::uint8_t> decode_faces(const NdArray<float>& latent);
  // UNet and decoder without leaving the device: avatar latents [B,8,32,32] and windows [B,T,D]
  // before the positional table -> faces [B,256,256,3] BGR. The path that rendering takes.
  NdArray<std::uint8_t> faces(const NdArray<float>& latent, const NdArray<float>& windows);

  // Where info() says so: the same faces, put into their frames on the device, windows [B,T,D] for B frames. Nothing but the finished
  // pictures comes to the host: NV12 of each picture's size, in their order. Frames that were used last stay on the device.
  // Error{invalid} for a frame whose content does not fit its sizes.
  std::vector<FinishedPicture> pictures(std::span<const PlacedFrame> frames,
                                        const NdArray<float>& windows);
  // How many bytes of frames stay on the device; what is more is dropped, used longest ago first. Nothing where pictures() is not
  // there.
  void limit_frames(std::size_t bytes);
  // Gives back what the frames on the device take. They are loaded again when they are used.
  void drop_frames();

  // Moves the weights of nets on a GPU into page-locked memory, and gives the device back what they, graphs, frames and batches took. Until wake()
  // nothing else may be called; not while another call runs. Error{failed} without that memory, or for a device that is lost: then wake()
  // may bring back what had moved, or the model be dropped.
  void pause();
  // The reverse. OutOfMemory: the device has no room, and the weights are still in host memory; other errors as any call's.
  // Graphs are recorded again, frames loaded again, when they are used.
  void wake();

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
