#include "gpu/nets/tensor_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>

namespace navtalk {
namespace {

// How diffusers named the VAE's attention before 0.13 (_fix_state_dict_keys_on_load).
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> k_old_attention{
    {{"query", "to_q"}, {"key", "to_k"}, {"value", "to_v"}, {"proj_attn", "to_out.0"}}};

void strip(std::string& name, std::string_view prefix) {
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
}

std::string renamed_attention(std::string name) {
  constexpr std::string_view attention = ".mid_block.attentions.0.";
  const std::size_t at = name.find(attention);
  if (at == std::string::npos) return name;
  const std::size_t start = at + attention.size();
  for (const auto& [old_part, part] : k_old_attention) {
    if (name.compare(start, old_part.size() + 1, std::string(old_part) + ".") == 0)
      return name.replace(start, old_part.size(), part);
  }
  return name;
}

bool is_floating(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

// The original latent-diffusion checkpoints keep the VAE's attention as 1x1 convolutions, which
// diffusers squeezes when it converts them (conv_attn_to_linear).
bool fits_shape(Net net, const TensorInfo& wanted, const Shape& stored) {
  if (stored == wanted.shape) return true;
  Shape conv = wanted.shape;
  conv.insert(conv.end(), 2, 1);
  return net == Net::vae && wanted.shape.size() == 2 && stored == conv &&
         wanted.name.find(".attentions.") != std::string::npos;
}

}  // namespace

std::optional<std::string> canonical_name(Net net, const std::string& stored) {
  std::string name = stored;
  strip(name, "module.");
  if (net == Net::whisper) {
    strip(name, "model.");
    if (name.starts_with("decoder.") || name == "proj_out.weight") return std::nullopt;
  }
  // Counters, and two outputs that only its training has.
  if (net == Net::bisenet && (name.ends_with(".num_batches_tracked") ||
                              name.starts_with("conv_out16.") || name.starts_with("conv_out32.")))
    return std::nullopt;
  // A training's checkpoint: counters, and what stands beside the backbone and the head.
  if (net == Net::dwpose && (name.ends_with(".num_batches_tracked") ||
                             (!name.starts_with("backbone.") && !name.starts_with("head."))))
    return std::nullopt;
  return net == Net::vae ? renamed_attention(std::move(name)) : name;
}

Fit compare(Net net, const Checkpoint& checkpoint, const std::vector<TensorInfo>& expected) {
  Fit fit;
  std::map<std::string, const TensorInfo*> stored;
  for (const TensorInfo& info : checkpoint.tensors()) {
    const auto name = canonical_name(net, info.name);
    if (name && !stored.emplace(*name, &info).second) fit.surplus.push_back(info.name);
  }
  for (const TensorInfo& wanted : expected) {
    const auto found = stored.find(wanted.name);
    if (found == stored.end()) {
      fit.missing.push_back(wanted.name);
      continue;
    }
    const TensorInfo& info = *found->second;
    stored.erase(found);
    if (!is_floating(info.dtype))
      fit.wrong_dtype.push_back(fmt::format(
          "{} ({})", info.name, info.spelling.empty() ? name(info.dtype) : info.spelling));
    else if (!fits_shape(net, wanted, info.shape))
      fit.mis_shaped.push_back(
          fmt::format("{} ({}, should be {})", info.name, info.shape, wanted.shape));
  }
  for (const auto& [name, info] : stored) fit.surplus.push_back(info->name);
  return fit;
}

}  // namespace navtalk
