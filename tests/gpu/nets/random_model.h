// A model folder in MuseTalk's layout with random weights, of any size.
#pragma once

#include <filesystem>
#include <functional>

#include "core/checkpoint/checkpoint.h"
#include "gpu/nets/net_config.h"

namespace navtalk::tests {

struct RandomModel {
  UnetConfig unet{.block_out_channels = {16, 32},
                  .layers_per_block = 1,
                  .cross_attention_dim = 32,
                  .heads = {2, 2},
                  .norm_num_groups = 8};
  VaeConfig vae{
      .block_out_channels = {16, 16, 16, 16}, .layers_per_block = 1, .norm_num_groups = 4};
  WhisperConfig whisper{
      .d_model = 32, .encoder_layers = 2, .encoder_attention_heads = 2, .encoder_ffn_dim = 64};
  // Changes the tensors of a net before they are written.
  std::function<void(Net, std::vector<TensorInfo>&)> edit;
};

// The same weights every time.
void write_random_model(const std::filesystem::path& folder, const RandomModel& model = {});

}  // namespace navtalk::tests
