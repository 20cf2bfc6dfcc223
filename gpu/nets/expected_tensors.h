// Every tensor that a net needs, with its name and shape, made from the configuration alone.
#pragma once

#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "gpu/nets/net_config.h"

namespace navtalk {

std::vector<TensorInfo> expected_unet(const UnetConfig& config);
std::vector<TensorInfo> expected_vae(const VaeConfig& config);
std::vector<TensorInfo> expected_whisper(const WhisperConfig& config);

}  // namespace navtalk
