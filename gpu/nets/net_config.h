// The nets and their sizes: what the JSON configurations of a checkpoint folder decide, and what
// MuseTalk fixes.
#pragma once

#include <array>
#include <vector>

namespace navtalk {

enum class Net { unet, vae, whisper, bisenet };

inline constexpr int k_face_size = 256;     // pixels a side of the crop that the VAE sees
inline constexpr int k_latent_size = 32;    // a side of the latent
inline constexpr int k_parsing_size = 512;  // pixels a side of what the face parsing sees
inline constexpr int k_parsing_classes = 19;

struct UnetConfig {
  std::vector<int> block_out_channels{320, 640, 1280, 1280};
  int in_channels = 8, out_channels = 4, layers_per_block = 2, cross_attention_dim = 384;
  std::vector<int> heads{
      8, 8, 8, 8};  // per block; "attention_head_dim" in the file means the number of heads
  int norm_num_groups = 32;
  float norm_eps = 1e-5F;
};
struct VaeConfig {
  std::vector<int> block_out_channels{128, 256, 512, 512};
  int in_channels = 3, out_channels = 3, layers_per_block = 2, latent_channels = 4,
      norm_num_groups = 32;
  float scaling_factor = 0.18215F;
};
struct WhisperConfig {
  int d_model = 384, encoder_layers = 4, encoder_attention_heads = 6, encoder_ffn_dim = 1536;
  int num_mel_bins = 80, max_source_positions = 1500;
};

// Face parsing. It has no file of configuration: the shapes of its weights say its sizes.
struct BisenetConfig {
  std::array<int, 4> widths{64, 128, 256, 512};  // of the backbone's four stages
  int context = 128;                             // of the maps that carry the surroundings
  int fused = 256, gate = 64, head = 256;
  int classes = k_parsing_classes;
  bool operator==(const BisenetConfig&) const = default;
};

}  // namespace navtalk
