#include "gpu/timing/timed_nets.h"

#include <algorithm>
#include <optional>

#include "gpu/image/color.h"
#include "gpu/nets/expected_tensors.h"
#include "gpu/nets/weights.h"
#include "gpu/timing/bench_face.h"

namespace navtalk {
namespace {

using namespace bench_face;

const std::int64_t k_frame_bytes = static_cast<std::int64_t>(yuv420_bytes(k_width, k_height));
const std::int64_t k_mask_bytes = std::int64_t{k_mask_region.width()} * k_mask_region.height();

std::uint8_t* bytes_of(const at::Tensor& all, std::int64_t row) {
  return static_cast<std::uint8_t*>(all.mutable_data_ptr()) + row * all.stride(0);
}

std::shared_ptr<cuda::GraphRecorder> recorder_of(const Device& device) {
  if (device.kind == Device::Kind::cpu) return nullptr;
  return cuda::graph_recorder(device.index);
}

}  // namespace

TimedPastes::TimedPastes(const at::Device& device, std::int64_t batch, std::size_t l2_bytes)
    : batch_(batch) {
  const at::TensorOptions bytes = at::TensorOptions().dtype(at::kByte).device(device);
  const auto set_bytes = static_cast<std::size_t>(batch * (2 * k_frame_bytes + k_mask_bytes));
  sets_ = static_cast<std::int64_t>(std::clamp<std::size_t>(4 * l2_bytes / set_bytes + 1, 1, 128));
  frames_ = at::empty({sets_ * batch, k_frame_bytes}, bytes).random_(60, 200);
  out_ = at::empty({sets_ * batch, k_frame_bytes}, bytes);
  masks_ = at::full({sets_ * batch, k_mask_bytes}, 200, bytes);
}

std::vector<cuda::FacePaste> TimedPastes::set(std::int64_t index,
                                              const nets::Tensors& faces) const {
  std::vector<cuda::FacePaste> all;
  for (const at::Tensor& slice : faces)
    for (std::int64_t i = 0; i < slice.size(0); ++i) {
      const std::int64_t row = index * batch_ + static_cast<std::int64_t>(all.size());
      all.push_back({.frame = bytes_of(frames_, row),
                     .out = bytes_of(out_, row),
                     .face = static_cast<const std::uint8_t*>(slice.const_data_ptr()) +
                             i * slice.stride(0) * slice.element_size(),
                     .mask = bytes_of(masks_, row),
                     .mask_stride = k_mask_region.width(),
                     .mask_region = k_mask_region,
                     .placement = k_placement});
    }
  return all;
}

void TimedPastes::launch(const std::vector<cuda::FacePaste>& set, at::ScalarType type,
                         cuda::Stream stream) {
  const auto format = type == at::kHalf ? cuda::Format::fp16 : cuda::Format::fp32;
  cuda::paste_faces(set, k_width, k_height, format, 3, stream);
}

nets::Tensors in_nhwc(nets::Tensors faces) {
  for (at::Tensor& slice : faces) slice = slice.contiguous(at::MemoryFormat::ChannelsLast);
  return faces;
}

TimedNets::TimedNets(const ModelFiles& files, const Device& device, Precision precision,
                     WeightFormat weights, std::int64_t decoded, bool graphs)
    : config_(files.unet_config),
      rows_(10 * (files.whisper_config.encoder_layers + 1)),
      device_(device, true, graphs ? recorder_of(device) : nullptr),
      unet_(nets::Weights::open(Net::unet, files.unet, expected_unet(config_)), config_,
            device_.placement(precision, weights)),
      decoder_(nets::Weights::open(Net::vae, files.vae, expected_vae(files.vae_config)),
               files.vae_config, device_.placement(precision, weights)),
      unet_passes_([this](const nets::Tensors& in) { return unet_(in[0], in[1]).to(at::kFloat); },
                   {.name = "unet", .sizes = {1, 2, 4, 8}, .pass_cost = 1.7}, device_.graphs()),
      decoder_passes_(decoder_, decoded, device_.graphs()) {}

at::Tensor TimedNets::noise(std::vector<std::int64_t> shape) const {
  return at::randn(shape, at::TensorOptions().dtype(at::kFloat).device(device()));
}

nets::Tensors TimedNets::unet_inputs(std::int64_t batch) const {
  return {noise({batch, config_.in_channels, k_latent_size, k_latent_size}),
          noise({batch, rows_, config_.cross_attention_dim})};
}

at::Tensor TimedNets::unet(const nets::Tensors& inputs) const {
  const nets::Tensors parts = unet_passes_(inputs);
  return parts.size() == 1 ? parts.front() : at::cat(parts);
}

}  // namespace navtalk
