// What the nets have to compute and to move, counted from the shapes of their layers, and how long that takes at least. Without torch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/nets/net_config.h"

namespace navtalk {

// One layer, of one image: operations (a multiplication and an addition are two), and numbers that it reads and writes.
struct LayerWork {
  double flop = 0;
  double weights = 0;  // read once, however many images a pass has
  double values = 0;
};

// As navtalk computes them: nearest upsampling as 2x2 convolutions, the time embedding as biases. Norms and activations are not counted: they
// can be parts of the layers beside them.
std::vector<LayerWork> unet_work(const UnetConfig& config, int context_rows);
std::vector<LayerWork> decoder_work(const VaeConfig& config);
// A segment of 30 s.
std::vector<LayerWork> whisper_work(const WhisperConfig& config);

double flop_of(std::span<const LayerWork> layers);

// What a device reaches.
struct DeviceRates {
  double flop_per_s = 0, bytes_per_s = 0;
};

// Seconds of a pass with `batch` images whose layers run one after the other: of each layer the longer of computing and moving memory.
double least_seconds(std::span<const LayerWork> layers, std::int64_t batch, double bytes_per_number,
                     const DeviceRates& rates);

}  // namespace navtalk
