#include "gpu/nets/layers/folded_norm.h"

#include <ATen/ATen.h>

namespace navtalk::nets {
namespace {

constexpr double k_batch_norm_eps = 1e-5;

}  // namespace

FoldedConv folded_norm(const Weights& weights, const std::string& conv, const std::string& norm) {
  const auto exact = [&](const char* part) { return weights(norm + part).to(at::kDouble); };
  const at::Tensor scale = exact(".weight") / at::sqrt(exact(".running_var") + k_batch_norm_eps);
  const at::Tensor weight = weights(conv + ".weight").to(at::kDouble) * scale.view({-1, 1, 1, 1});
  const at::Tensor bias = exact(".bias") - exact(".running_mean") * scale;
  return {weight.to(at::kFloat), bias.to(at::kFloat)};
}

}  // namespace navtalk::nets
