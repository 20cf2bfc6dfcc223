#include "gpu/model/model.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <iterator>

#include "core/base/check.h"
#include "core/base/error.h"
#include "gpu/cuda/devices.h"
#include "gpu/features/windows.h"
#include "gpu/kernels/maps.h"
#include "gpu/kernels/parallel_tasks.h"
#include "gpu/model/device_frames.h"
#include "gpu/model/device_pool.h"
#include "gpu/model/model_files.h"
#include "gpu/model/net_device.h"
#include "gpu/model/torch_call.h"
#include "gpu/model/usable_device.h"
#include "gpu/nets/decoder_passes.h"
#include "gpu/nets/expected_tensors.h"
#include "gpu/nets/graphed_net.h"
#include "gpu/nets/layers/format.h"
#include "gpu/nets/unet.h"
#include "gpu/nets/vae.h"
#include "gpu/nets/whisper.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_face_bytes = std::int64_t{k_face_size} * k_face_size * 3;

// Frames in one pass through a UNet where frames are parallel tasks: they share its operators'
// fixed cost.
constexpr std::int64_t k_frames_in_task = 4;

// Passes of a GPU's UNet, and what one costs whatever its size: the weights are read for as long as this many faces are computed.
// Computed, not measured (docs/plan.md).
constexpr std::array<std::int64_t, 4> k_unet_passes{1, 2, 4, 8};
constexpr double k_unet_pass_cost = 1.7;

void require_shape(const Shape& shape, const Shape& wanted, const char* what) {
  bool same = shape.size() == wanted.size();
  for (std::size_t i = 0; same && i < shape.size(); ++i)
    same = wanted[i] < 0 || shape[i] == wanted[i];
  if (!same)
    throw Error(Code::invalid, fmt::format("{} has shape [{}], the model takes [{}] (-1: any)",
                                           what, fmt::join(shape, ","), fmt::join(wanted, ",")));
}

// One crop as the VAE sees it: RGB, v/255, bottom half zero when masked, then (x - 0.5) / 0.5.
void normalise(ConstImageView crop, bool masked, float* out) {
  constexpr int k_plane = k_face_size * k_face_size;
  for (int y = 0; y < k_face_size; ++y)
    for (int x = 0; x < k_face_size; ++x)
      for (int k = 0; k < 3; ++k) {
        const bool hidden = masked && y >= k_face_size / 2;
        const float unit = hidden ? 0.0F : static_cast<float>(crop.at(x, y)[2 - k]) / 255.0F;
        out[k * k_plane + y * k_face_size + x] = (unit - 0.5F) / 0.5F;
      }
}

// As kernels::to_bgr_bytes(), where the faces are: [N,3,256,256] to bytes [N,256,256,3].
at::Tensor bgr_bytes(const at::Tensor& raw) {
  const at::Tensor levels = raw.to(at::kFloat).mul(0.5).add(0.5).clamp(0, 1).mul(255).round();
  return at::nan_to_num(levels, 0.0).to(at::kByte).flip(1).permute({0, 2, 3, 1}).contiguous();
}

// A quarter of what is free: batches, and whoever else uses the device, have the rest.
std::size_t room_for_frames(const Device& device) {
  if (device.kind == Device::Kind::cpu) return 0;
  const cuda::MemoryUse memory = cuda::memory_use(device.index);
  return (memory.total - memory.used) / 4;
}

}  // namespace

struct Model::Impl {
  ModelInfo info;
  UnetConfig unet_config;
  VaeConfig vae_config;
  WhisperConfig whisper_config;
  int threads = 1;
  bool decode_as_batch = false;
  bool decode_parallel = false;          // on the CPU: each thread takes faces of its own
  std::optional<NetDevice> main, apart;  // `apart` is the decoder's, where it has one of its own
  std::unique_ptr<nets::Whisper> whisper;
  std::unique_ptr<nets::Unet> unet;
  std::unique_ptr<nets::VaeEncoder> encoder;
  std::unique_ptr<nets::VaeDecoder> decoder;
  // Where the net is placed.
  std::unique_ptr<const nets::GraphedNet> unet_passes;
  std::unique_ptr<const nets::DecoderPasses> decoder_passes;
  std::unique_ptr<DeviceFrames> kept_frames;

  const NetDevice& decodes() const { return apart ? *apart : *main; }
  void load(const Options& options);
  void place(const Options& options);
  void load_nets(const Options& options, const ModelFiles& files);
  void make_passes();
  void require_unet_shapes(const NdArray<float>& latent, const NdArray<float>& context) const;
  std::int64_t tokens_of(const NdArray<float>& mel) const;
  // One image at a time: the largest maps of one stay in the cache, those of two do not.
  at::Tensor decode_one(const at::Tensor& latents, std::int64_t i) const {
    return (*decoder)(latents.narrow(0, i, 1));
  }
  void decode_bytes(const at::Tensor& latents, std::uint8_t* faces) const;
  std::vector<at::Tensor> decode_slices(const at::Tensor& latents) const;
  void decode_placed(const at::Tensor& latents, std::uint8_t* faces) const;
  at::Tensor run_unet(const at::Tensor& latent, const at::Tensor& context) const;
  std::vector<const NetDevice*> placed() const;
};

void Model::Impl::load(const Options& options) {
  const ModelFiles files = find_model_files(options.models);
  decode_as_batch = options.decode_as_batch;
  unet_config = files.unet_config;
  vae_config = files.vae_config;
  whisper_config = files.whisper_config;
  info.whisper_layers = whisper_config.encoder_layers;
  info.context_width = whisper_config.d_model;
  info.context_rows = 10 * (whisper_config.encoder_layers + 1);
  place(options);
  if (options.weights == WeightFormat::int8 && placed().empty())
    throw Error(Code::invalid,
                "int8 weights are for GPUs only: a CPU packs the weights for its kernels");
  load_nets(options, files);
  for (const NetDevice* one : placed()) info.weight_bytes += one->weights().bytes();
  make_passes();
  info.pictures_on_device = unet && decoder && decodes().placed();
  info.finishing_gpu = decodes().name().index;
  if (info.pictures_on_device)
    kept_frames = std::make_unique<DeviceFrames>(
        decodes().device(), main->device(), decodes().copies(),
        options.frame_bytes.value_or(room_for_frames(decodes().name())));
}

// Where nets run as on a GPU.
std::vector<const NetDevice*> Model::Impl::placed() const {
  std::vector<const NetDevice*> found;
  for (const std::optional<NetDevice>* one : {&main, &apart})
    if (*one && (*one)->placed()) found.push_back(&**one);
  return found;
}

// Devices, and what each computes in.
void Model::Impl::place(const Options& options) {
  const auto on = [&](const Device& device, bool placed) {
    std::shared_ptr<cuda::GraphRecorder> recorder = options.recorder;
    if (device.kind == Device::Kind::cuda) recorder = cuda::graph_recorder(device.index);
    return NetDevice(device, placed, options.graphs ? std::move(recorder) : nullptr);
  };
  const auto execution = [&](const NetDevice& where, std::optional<Precision> asked) {
    return where.placed() ? gpu_execution(asked) : choose_execution(asked, unet_config, vae_config);
  };
  main.emplace(on(options.device, options.as_on_gpu || options.device.kind == Device::Kind::cuda));
  info.execution = execution(*main, options.precision);
  decode_parallel = info.execution.parallel_frames;
  if (!options.decoder_device) return;
  const Device& there = *options.decoder_device;
  if (there == options.device && !options.as_on_gpu) return;
  apart.emplace(on(there, there.kind == Device::Kind::cuda));
  const bool alike = apart->placed() == main->placed();
  const Execution decoding =
      execution(*apart, alike ? options.precision : asked_elsewhere(options.precision));
  info.execution = with_decoder_of(info.execution, decoding);
  decode_parallel = decoding.parallel_frames;
}

void Model::Impl::load_nets(const Options& options, const ModelFiles& files) {
  const Execution& formats = info.execution;
  if (options.whisper) {
    const auto weights =
        nets::Weights::open(Net::whisper, files.whisper, expected_whisper(whisper_config));
    whisper = std::make_unique<nets::Whisper>(weights, whisper_config,
                                              main->placement(formats.whisper, options.weights));
  }
  if (options.unet) {
    const auto weights = nets::Weights::open(Net::unet, files.unet, expected_unet(unet_config));
    unet = std::make_unique<nets::Unet>(weights, unet_config,
                                        main->placement(formats.unet, options.weights));
  }
  if (!options.vae_decoder && !options.vae_encoder) return;
  const auto weights = nets::Weights::open(Net::vae, files.vae, expected_vae(vae_config));
  if (options.vae_decoder)
    decoder = std::make_unique<nets::VaeDecoder>(
        weights, vae_config, decodes().placement(formats.decoder, options.weights),
        options.decode_as_batch ? nets::NormKernel::library : nets::NormKernel::own);
  if (options.vae_encoder)
    encoder = std::make_unique<nets::VaeEncoder>(weights, vae_config,
                                                 main->placement(formats.encoder, options.weights));
}

void Model::Impl::make_passes() {
  if (unet && main->placed()) {
    const auto pass = [this](const nets::Tensors& in) {
      return (*unet)(in[0], in[1]).to(at::kFloat);
    };
    unet_passes = std::make_unique<const nets::GraphedNet>(
        pass,
        nets::GraphedNet::Options{.name = "unet",
                                  .sizes = {k_unet_passes.begin(), k_unet_passes.end()},
                                  .pass_cost = k_unet_pass_cost},
        main->graphs());
  }
  if (!decoder || !decodes().placed()) return;
  decoder_passes = std::make_unique<const nets::DecoderPasses>(*decoder, info.execution.decoded,
                                                               decodes().graphs());
}

void Model::Impl::require_unet_shapes(const NdArray<float>& latent,
                                      const NdArray<float>& context) const {
  NAVTALK_CHECK(unet);
  require_shape(latent.shape, {-1, unet_config.in_channels, k_latent_size, k_latent_size},
                "the latent");
  require_shape(context.shape, {latent.dim(0), -1, unet_config.cross_attention_dim}, "the context");
}

std::int64_t Model::Impl::tokens_of(const NdArray<float>& mel) const {
  require_shape(mel.shape, {-1, whisper_config.num_mel_bins, -1}, "the spectrogram");
  const std::int64_t frames = mel.dim(2), most = 2 * whisper_config.max_source_positions;
  if (frames % 2 != 0 || frames > most) {
    throw Error(Code::invalid, fmt::format("the spectrogram has {} frames, the model takes an even "
                                           "number up to {}",
                                           frames, most));
  }
  return frames / 2;
}

// Always the same parts, so that the number of threads changes no pixel.
at::Tensor Model::Impl::run_unet(const at::Tensor& latent, const at::Tensor& context) const {
  if (unet_passes) {
    const nets::Tensors parts = (*unet_passes)({latent, context});
    return parts.size() == 1 ? parts.front() : at::cat(parts);
  }
  const std::int64_t frames = latent.size(0);
  const std::int64_t each = info.execution.parallel_frames ? k_frames_in_task : frames;
  std::vector<at::Tensor> parts(static_cast<std::size_t>((frames + each - 1) / each));
  const auto part = [&](std::int64_t i) {
    const c10::InferenceMode inference;  // belongs to the thread
    const std::int64_t begin = i * each, end = std::min(frames, begin + each);
    parts[static_cast<std::size_t>(i)] =
        (*unet)(latent.slice(0, begin, end), context.slice(0, begin, end)).to(at::kFloat);
  };
  kernels::for_each_parallel(std::ssize(parts), info.execution.parallel_frames ? threads : 1, part);
  return parts.size() == 1 ? parts.front() : at::cat(parts);
}

std::vector<at::Tensor> Model::Impl::decode_slices(const at::Tensor& latents) const {
  return (*decoder_passes)(latents.to(decodes().device()));
}

// Faces come back to the host in one copy.
void Model::Impl::decode_placed(const at::Tensor& latents, std::uint8_t* faces) const {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& raw : decode_slices(latents)) parts.push_back(bgr_bytes(raw));
  const at::Tensor bytes = at::cat(parts);
  const auto host = decodes().copies().to_host(bytes).wait();
  std::memcpy(faces, host.get(), bytes.nbytes());
}

void Model::Impl::decode_bytes(const at::Tensor& made, std::uint8_t* faces) const {
  if (decoder_passes) return decode_placed(made, faces);
  const at::Tensor latents = made.cpu();
  const auto decode = [&](std::int64_t i) {
    const c10::InferenceMode inference;
    const at::Tensor raw = decode_one(latents, i);
    NAVTALK_CHECK(raw.stride(1) == 1);
    kernels::to_bgr_bytes(raw.const_data_ptr(), raw.stride(3), nets::format_of(raw),
                          k_face_bytes / 3, faces + i * k_face_bytes);
  };
  kernels::for_each_parallel(latents.size(0), decode_parallel ? threads : 1, decode);
}

Model Model::load(const Options& options) {
  usable_device(options.device);
  if (options.decoder_device) usable_device(options.decoder_device);
  auto impl = std::make_unique<Impl>();
  impl->threads = options.threads > 0 ? std::min(options.threads, usable_cores()) : usable_cores();
  run(impl->threads, "loading the nets", [&] { impl->load(options); });
  return Model(std::move(impl));
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const ModelInfo& Model::info() const { return impl_->info; }

NdArray<float> Model::whisper_states(const NdArray<float>& mel) {
  return whisper_states(mel, 0, impl_->tokens_of(mel));
}

NdArray<float> Model::whisper_states(const NdArray<float>& mel, std::int64_t first,
                                     std::int64_t count) {
  NAVTALK_CHECK(impl_->whisper);
  const WhisperConfig& config = impl_->whisper_config;
  NAVTALK_CHECK(first >= 0 && count > 0 && first + count <= impl_->tokens_of(mel));
  NdArray<float> states(
      Shape{mel.dim(0), count, config.encoder_layers + 1, std::int64_t{config.d_model}});
  run(impl_->threads, "whisper", [&] {
    const at::Tensor segments = impl_->main->tensor_of(mel);
    for (std::int64_t i = 0; i < mel.dim(0); ++i) {
      const at::Tensor one =
          (*impl_->whisper)(segments.narrow(0, i, 1), first, count).cpu().contiguous();
      std::memcpy(states.row(i), one.const_data_ptr(), one.nbytes());
    }
  });
  return states;
}

NdArray<float> Model::encode(std::span<const ConstImageView> crops) {
  NAVTALK_CHECK(impl_->encoder);
  const std::int64_t channels = impl_->vae_config.latent_channels;
  NdArray<float> latents(
      Shape{static_cast<std::int64_t>(crops.size()), 2 * channels, k_latent_size, k_latent_size});
  for (std::size_t i = 0; i < crops.size(); ++i) {
    if (crops[i].width != k_face_size || crops[i].height != k_face_size || crops[i].channels != 3)
      throw Error(Code::invalid,
                  fmt::format("a crop is {}x{} with {} channels, the encoder takes 256x256 BGR",
                              crops[i].width, crops[i].height, crops[i].channels));
    // Masked, then reference: the order of the latent's halves, so the batch is the result.
    NdArray<float> pair(Shape{2, 3, k_face_size, k_face_size});
    normalise(crops[i], true, pair.row(0));
    normalise(crops[i], false, pair.row(1));
    run(impl_->threads, "encoding", [&] {
      const at::Tensor both = impl_->main->tensor_of(pair);
      for (std::int64_t half = 0; half < 2; ++half) {
        const at::Tensor mean = (*impl_->encoder)(both.narrow(0, half, 1)).cpu().contiguous();
        std::memcpy(latents.row(static_cast<std::int64_t>(i)) + half * mean.numel(),
                    mean.const_data_ptr(), mean.nbytes());
      }
    });
  }
  return latents;
}

NdArray<float> Model::unet(const NdArray<float>& latent, const NdArray<float>& context) {
  impl_->require_unet_shapes(latent, context);
  return run(impl_->threads, "the UNet", [&] {
    return array(
        impl_->run_unet(impl_->main->tensor_of(latent), impl_->main->tensor_of(context)).cpu());
  });
}

NdArray<float> Model::decode_raw(const NdArray<float>& latent) {
  NAVTALK_CHECK(impl_->decoder);
  require_shape(latent.shape, {-1, impl_->vae_config.latent_channels, k_latent_size, k_latent_size},
                "the latent");
  NdArray<float> images(Shape{latent.dim(0), 3, k_face_size, k_face_size});
  const std::int64_t each = impl_->decode_as_batch ? latent.dim(0) : 1;
  run(impl_->threads, "the decoder", [&] {
    const at::Tensor latents = impl_->decodes().tensor_of(latent);
    for (std::int64_t i = 0; i < latent.dim(0); i += each) {
      const at::Tensor part = (*impl_->decoder)(latents.narrow(0, i, each))
                                  .cpu()
                                  .to(at::kFloat)
                                  .contiguous(at::MemoryFormat::Contiguous);
      std::memcpy(images.row(i), part.const_data_ptr(), part.nbytes());
    }
  });
  return images;
}

NdArray<std::uint8_t> Model::decode_faces(const NdArray<float>& latent) {
  NAVTALK_CHECK(impl_->decoder);
  require_shape(latent.shape, {-1, impl_->vae_config.latent_channels, k_latent_size, k_latent_size},
                "the latent");
  NdArray<std::uint8_t> faces(Shape{latent.dim(0), k_face_size, k_face_size, 3});
  run(impl_->threads, "the decoder",
      [&] { impl_->decode_bytes(impl_->decodes().tensor_of(latent), faces.values.data()); });
  return faces;
}

NdArray<std::uint8_t> Model::faces(const NdArray<float>& latent, const NdArray<float>& windows) {
  NAVTALK_CHECK(impl_->decoder);
  NdArray<float> context = windows;
  add_positions(context);
  impl_->require_unet_shapes(latent, context);
  NdArray<std::uint8_t> faces(Shape{latent.dim(0), k_face_size, k_face_size, 3});
  run(impl_->threads, "rendering faces", [&] {
    impl_->decode_bytes(
        impl_->run_unet(impl_->main->tensor_of(latent), impl_->main->tensor_of(context)),
        faces.values.data());
  });
  return faces;
}

std::vector<FinishedPicture> Model::pictures(std::span<const PlacedFrame> frames,
                                             const NdArray<float>& windows) {
  NAVTALK_CHECK(impl_->kept_frames && !frames.empty());
  NdArray<float> context = windows;
  add_positions(context);
  return run(impl_->threads, "rendering pictures", [&] {
    const std::vector<DeviceFrames::Resident> residents = impl_->kept_frames->resident(frames);
    std::vector<at::Tensor> latents;
    for (const DeviceFrames::Resident& one : residents) latents.push_back(one.latent);
    const at::Tensor latent = at::cat(latents);
    require_shape(context.shape, {latent.size(0), -1, impl_->unet_config.cross_attention_dim},
                  "the context");
    const at::Tensor made = impl_->run_unet(latent, impl_->main->tensor_of(context));
    return impl_->kept_frames->paste(frames, residents, impl_->decode_slices(made));
  });
}

void Model::pause() {
  run(impl_->threads, "moving the weights to host memory", [&] {
    drop_frames();
    for (const NetDevice* one : impl_->placed()) {
      if (one->graphs() != nullptr) one->graphs()->clear();
      one->weights().to_host();
    }
  });
  for (const NetDevice* one : impl_->placed()) restart_pool(one->name());
}

void Model::wake() {
  run(impl_->threads, "moving the weights to the device", [&] {
    for (const NetDevice* one : impl_->placed()) one->weights().to_device();
  });
}

void Model::limit_frames(std::size_t bytes) {
  if (impl_->kept_frames) impl_->kept_frames->limit(bytes);
}

void Model::drop_frames() {
  if (impl_->kept_frames) impl_->kept_frames->drop();
}

}  // namespace navtalk
