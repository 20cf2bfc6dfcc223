// The UNet as it is on a GPU, with our kernels between its products, which the emulation runs, against the same net on the CPU.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <catch2/catch.hpp>

#include "gpu/model/model_files.h"
#include "gpu/nets/expected_tensors.h"
#include "gpu/nets/unet.h"
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

}  // namespace navtalk::nets
