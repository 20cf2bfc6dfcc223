// UNet and decoder on one device without a model around them, and the launch behind them, for benches: inputs lie on the device, and nothing
// comes back. Only for sources that include ATen.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/device/device.h"
#include "gpu/image/paste.h"
#include "gpu/model/model_files.h"
#include "gpu/model/net_device.h"
#include "gpu/nets/decoder_passes.h"
#include "gpu/nets/graphed_net.h"
#include "gpu/nets/unet.h"
#include "gpu/nets/vae.h"

namespace navtalk {

// In 720p frames. One thread.
class TimedPastes {
 public:
  // So many sets of a batch that they pass the L2 cache four times over.
  TimedPastes(const at::Device& device, std::int64_t batch, std::size_t l2_bytes);

  std::int64_t sets() const { return sets_; }
  // What is launched for one set. `faces` as the decoder gives them, in slices in fp16 or fp32 whose pixels are dense; they are held
  // by the caller.
  std::vector<cuda::FacePaste> set(std::int64_t index, const nets::Tensors& faces) const;
  static void launch(const std::vector<cuda::FacePaste>& set, at::ScalarType type,
                     cuda::Stream stream);

 private:
  std::int64_t batch_, sets_ = 1;
  at::Tensor frames_, out_, masks_;
};

// As the kernel reads them: pixel after pixel.
nets::Tensors in_nhwc(nets::Tensors faces);

// In passes of the sizes that Model has. One thread; the device that is current.
class TimedNets {
 public:
  // `decoded`: faces in one pass of the decoder. Errors of the weights' files.
  TimedNets(const ModelFiles& files, const Device& device, Precision precision,
            WeightFormat weights, std::int64_t decoded, bool graphs);

  at::Device device() const { return device_.device(); }
  at::Tensor noise(std::vector<std::int64_t> shape) const;
  nets::Tensors unet_inputs(std::int64_t batch) const;
  at::Tensor unet(const nets::Tensors& inputs) const;
  nets::Tensors decode(const at::Tensor& latents) const { return decoder_passes_(latents); }

 private:
  UnetConfig config_;
  std::int64_t rows_;
  NetDevice device_;
  nets::Unet unet_;
  nets::VaeDecoder decoder_;
  nets::GraphedNet unet_passes_;
  nets::DecoderPasses decoder_passes_;
};

}  // namespace navtalk
