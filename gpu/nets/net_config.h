// The nets and their sizes: what the JSON configurations of a checkpoint folder decide, and what
// MuseTalk fixes.
#pragma once

#include <array>
#include <vector>

namespace navtalk {

enum class Net { unet, vae, whisper, bisenet, dwpose, s3fd };

inline constexpr int k_face_size = 256;     // pixels a side of the crop that the VAE sees
inline constexpr int k_latent_size = 32;    // a side of the latent
inline constexpr int k_parsing_size = 512;  // pixels a side of what the face parsing sees
inline constexpr int k_parsing_classes = 19;
inline constexpr int k_pose_width = 288, k_pose_height = 384;  // pixels of what DWPose sees
inline constexpr int k_pose_points = 133;  // of a whole body; 68 of them of the face
inline constexpr int k_pose_bins = 2;      // a pixel

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

// Landmarks: RTMPose for whole bodies, as DWPose trained it. The shapes say its sizes.
struct DwposeConfig {
  std::array<int, 3> stem{32, 32, 64};
  std::array<int, 4> widths{128, 256, 512, 1024};  // of the backbone's stages
  std::array<int, 4> blocks{3, 6, 6, 3};
  int final_kernel = 7;  // of the convolution that makes a map for each point
  int hidden = 256, expanded = 512, attention = 128;  // of the attention between points
  bool operator==(const DwposeConfig&) const = default;
};

// Face detection: VGG with heads at six scales. The shapes say its sizes.
struct S3fdConfig {
  std::array<int, 5> widths{64, 128, 256, 512, 512};  // of VGG's five blocks
  std::array<int, 2> dense{1024, 1024};               // fc6, fc7
  std::array<int, 2> sixth{256, 512}, seventh{128, 256};
  bool operator==(const S3fdConfig&) const = default;
};

}  // namespace navtalk
