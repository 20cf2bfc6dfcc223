// Whether a checkpoint holds the tensors that a net needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "gpu/nets/net_config.h"

namespace navtalk {

// Compares a checkpoint with what is expected: names of missing, surplus and mis-shaped tensors.
// Prefixes and old spellings that the reference tolerates are accepted ("module.",
// "model.encoder.", decoder.* of whisper ignored, VAE attention query/key/value/proj_attn, also as
// 1x1 convolutions [c,c,1,1] in place of [c,c], counters and training outputs of BiSeNet, what DWPose's training keeps beside the net); see canonical_name(). Any floating dtype fits.
struct Fit {
  std::vector<std::string> missing, surplus, mis_shaped, wrong_dtype;
  bool ok() const {
    return missing.empty() && surplus.empty() && mis_shaped.empty() && wrong_dtype.empty();
  }
};
// The name under which a stored tensor is looked for, nullopt when the reference ignores it.
std::optional<std::string> canonical_name(Net net, const std::string& stored);
Fit compare(Net net, const Checkpoint& checkpoint, const std::vector<TensorInfo>& expected);

}  // namespace navtalk
