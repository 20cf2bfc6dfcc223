// UNet and decoder as they are on a GPU, with our kernels between their products, which the emulation runs, against the same nets on the
// CPU.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <catch2/catch.hpp>

#include "gpu/model/model_files.h"
#include "gpu/nets/expected_tensors.h"
#include "gpu/nets/placed_weights.h"
#include "gpu/nets/unet.h"
#include "gpu/nets/vae.h"
#include "gpu/nets/weights.h"
#include "tests/gpu/nets/random_model.h"
#include "tests/temporary_directory.h"

namespace navtalk::nets {
namespace {

Placement emulated(at::ScalarType type) {
  Placement place(type, at::kCPU);
  place.device_kernels = true;
  return place;
}

double furthest_of(const at::Tensor& found, const at::Tensor& wanted) {
  return (found.to(at::kDouble) - wanted.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace

TEST_CASE("the UNet with a GPU's kernels makes what the CPU makes, and changes no input") {
  const c10::InferenceMode inference;
  const tests::TemporaryDirectory folder;
  tests::write_random_model(folder.path());
  const ModelFiles files = find_model_files(folder.path());
  const auto net = [&](const Placement& place) {
    return Unet(Weights::open(Net::unet, files.unet, expected_unet(files.unet_config)),
                files.unet_config, place);
  };
  at::manual_seed(5);
  const at::Tensor latent = at::randn({2, files.unet_config.in_channels, 32, 32}),
                   context = at::randn({2, 50, files.unet_config.cross_attention_dim});
  const at::Tensor latent_before = latent.clone(), context_before = context.clone();
  const at::Tensor wanted = net(at::kFloat)(latent, context);
  const Unet exact = net(emulated(at::kFloat));
  const at::Tensor found = exact(latent, context);
  CHECK(furthest_of(found, wanted) < 1e-4 * wanted.abs().max().item<double>());
  CHECK(furthest_of(latent, latent_before) + furthest_of(context, context_before) == 0);
  CHECK(at::equal(exact(latent, context), found));
  const at::Tensor halves = net(emulated(at::kHalf))(latent, context);
  CHECK(furthest_of(halves, wanted) < 2e-2 * wanted.abs().max().item<double>());
}

TEST_CASE("the VAE's middle and the doubling with a GPU's kernels make what the CPU makes") {
  const c10::InferenceMode inference;
  const tests::TemporaryDirectory folder;
  tests::write_random_model(folder.path());
  const ModelFiles files = find_model_files(folder.path());
  const Weights weights = Weights::open(Net::vae, files.vae, expected_vae(files.vae_config));
  const auto made = [&](const Placement& place, const at::Tensor& map) {
    at::Tensor h = map.clone(at::MemoryFormat::ChannelsLast);
    h = VaeMiddle(weights.in("decoder.mid_block"), files.vae_config.norm_num_groups, 16, place,
                  NormKernel::own)(h);
    const Weights up = weights.in("decoder.up_blocks", 0).in("upsamplers.0.conv");
    return UpConv(up("weight"), up("bias"), 16, place)(h);
  };
  at::manual_seed(6);
  const at::Tensor map = at::randn({2, files.vae_config.block_out_channels.back(), 16, 16});
  const at::Tensor wanted = made(at::kFloat, map), found = made(emulated(at::kFloat), map);
  CHECK(furthest_of(found, wanted) < 1e-4 * wanted.abs().max().item<double>());
}

TEST_CASE("weights in 8 bits, and weights that were away, go through a GPU's kernels, too") {
  const c10::InferenceMode inference;
  const tests::TemporaryDirectory folder;
  tests::RandomModel wide;
  wide.unet.block_out_channels = {64, 64};
  tests::write_random_model(folder.path(), wide);
  const ModelFiles files = find_model_files(folder.path());
  const auto net = [&](const Placement& place) {
    return Unet(Weights::open(Net::unet, files.unet, expected_unet(files.unet_config)),
                files.unet_config, place);
  };
  at::manual_seed(7);
  const at::Tensor latent = at::randn({1, files.unet_config.in_channels, 32, 32}),
                   context = at::randn({1, 50, files.unet_config.cross_attention_dim});
  const at::Tensor wanted = net(at::kFloat)(latent, context);
  Placement place = emulated(at::kFloat);
  place.weights = WeightFormat::int8;
  place.kept = std::make_shared<PlacedWeights>(place.device);
  const Unet small = net(place);
  const at::Tensor found = small(latent, context);
  CHECK(furthest_of(found, wanted) < 0.1 * wanted.abs().max().item<double>());
  CHECK(furthest_of(found, wanted) > 0);
  place.kept->to_host();
  place.kept->to_device();
  CHECK(at::equal(small(latent, context), found));
}

}  // namespace navtalk::nets
