#include "gpu/nets/weights.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>

#include "core/checkpoint/safetensors_writer.h"
#include "gpu/nets/expected_tensors.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

TEST_CASE("attention that is stored as 1x1 convolutions comes as matrices") {
  VaeConfig config;
  config.block_out_channels = {4, 4, 4, 8};
  config.layers_per_block = 1;
  config.norm_num_groups = 4;
  const auto expected = expected_vae(config);
  const std::vector<std::byte> zeros(std::size_t{1} << 16);
  SafetensorsWriter writer;
  for (TensorInfo tensor : expected) {
    const bool attention = tensor.name.find(".attentions.0.to_") != std::string::npos;
    if (attention && tensor.shape.size() == 2) tensor.shape.insert(tensor.shape.end(), 2, 1);
    const std::size_t bytes = element_count(tensor.shape) * item_size(tensor.dtype);
    writer.add(tensor.name, tensor.dtype, tensor.shape, std::span(zeros).first(bytes));
  }
  const tests::TemporaryDirectory directory;
  writer.write(directory / "vae.safetensors");

  const auto weights = nets::Weights::open(Net::vae, directory / "vae.safetensors", expected);
  CHECK(weights("decoder.mid_block.attentions.0.to_q.weight").sizes() == at::IntArrayRef({8, 8}));
}
