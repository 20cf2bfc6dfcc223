// A net's tensors by name, in fp32, as its modules ask for them while they are built.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "gpu/nets/net_config.h"

namespace navtalk::nets {

class Weights {
 public:
  using Read = std::function<at::Tensor(const std::string& name)>;

  // A checkpoint that holds exactly `expected`, read on demand. Error{invalid} names what is
  // missing, surplus, mis-shaped or of an unusable type.
  static Weights open(Net net, const std::filesystem::path& file,
                      const std::vector<TensorInfo>& expected);
  explicit Weights(Read read) : read_(std::move(read)) {}

  // The tensor `name` under this prefix: fp32, contiguous.
  at::Tensor operator()(const std::string& name) const { return read_(prefix_ + name); }
  // The same weights seen from below: in("mid_block")("x") is "mid_block.x".
  Weights in(const std::string& prefix) const;
  Weights in(const std::string& prefix, std::int64_t index) const;

 private:
  Read read_;
  std::string prefix_;
};

}  // namespace navtalk::nets
