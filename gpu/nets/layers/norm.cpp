#include "gpu/nets/layers/norm.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include <map>
#include <utility>

#include "gpu/kernels/device/group_norm.h"
#include "gpu/kernels/tokens.h"
#include "gpu/nets/device_stream.h"
#include "gpu/nets/layers/format.h"
#include "gpu/nets/layers/norm_workspace.h"

namespace navtalk::nets {
namespace {

at::Tensor zeroed_workspace(const cuda::GroupNorm& norm, const at::Device& device) {
  const auto bytes = static_cast<std::int64_t>(cuda::group_norm_workspace_bytes(norm));
  return at::zeros({bytes}, at::TensorOptions().dtype(at::kByte).device(device));
}

thread_local at::Tensor* own_workspace = nullptr;  // see OwnNormWorkspace

at::Tensor& kept_workspace(const at::Device& device, cuda::Stream stream) {
  if (own_workspace != nullptr) return *own_workspace;
  thread_local std::map<std::pair<at::DeviceIndex, cuda::Stream>, at::Tensor> kept;
  return kept[{device.index(), stream}];
}

// Launches the norm. The workspace of a thread's norms in a stream is kept from norm to norm, so that only the first of them zeroes
// it. Threads do not share one: the two launches of a norm must not have another norm's between them.
void normalise(const cuda::GroupNorm& norm, const at::Device& device) {
  const cuda::Stream stream = stream_of(device);
  if (norm.images > cuda::k_most_shared_images) {
    cuda::group_norm(norm, zeroed_workspace(norm, device).mutable_data_ptr(), stream);
    return;
  }
  at::Tensor& slot = kept_workspace(device, stream);
  at::Tensor workspace = std::exchange(slot, {});  // dropped where the launch fails
  if (!workspace.defined() || workspace.nbytes() < cuda::group_norm_workspace_bytes(norm))
    workspace = zeroed_workspace(norm, device);
  cuda::group_norm(norm, workspace.mutable_data_ptr(), stream);
  slot = std::move(workspace);
}

at::Tensor in_nhwc(const at::Tensor& map) { return map.contiguous(at::MemoryFormat::ChannelsLast); }

}  // namespace

OwnNormWorkspace::OwnNormWorkspace(at::Tensor& workspace)
    : before_(std::exchange(own_workspace, &workspace)) {}
OwnNormWorkspace::~OwnNormWorkspace() { own_workspace = before_; }

GroupNorm::GroupNorm(const Weights& weights, std::int64_t groups, float eps, bool silu,
                     NormKernel kernel, const Placement& place)
    : gamma_(place.in(at::kFloat).place(weights("weight"))),
      beta_(place.in(at::kFloat).place(weights("bias"))),
      groups_(groups),
      eps_(eps),
      silu_(silu),
      kernel_(place.packed ? kernel : NormKernel::placed),
      on_device_(place.norm_on_device) {}

// Of x, or of x and skip on the channel axis. Statistics are fp32 whatever the maps are.
at::Tensor GroupNorm::placed(const at::Tensor& x, const at::Tensor* skip) const {
  if (on_device_) return on_device(x, skip);
  const at::Tensor all = (skip != nullptr ? at::cat({x, *skip}, 1) : x).to(at::kFloat);
  const at::Tensor y = at::group_norm(all.contiguous(), groups_, gamma_, beta_, eps_);
  return in_nhwc((silu_ ? at::silu(y) : y).to(x.scalar_type()));
}

at::Tensor GroupNorm::on_device(const at::Tensor& x, const at::Tensor* skip) const {
  const at::Tensor a = in_nhwc(x), b = skip != nullptr ? in_nhwc(*skip) : at::Tensor();
  const std::int64_t more = skip != nullptr ? b.size(1) : 0;
  at::Tensor y = at::empty({a.size(0), a.size(1) + more, a.size(2), a.size(3)}, a.options(),
                           at::MemoryFormat::ChannelsLast);
  const cuda::GroupNorm norm{
      .x = a.const_data_ptr(),
      .skip = skip != nullptr ? b.const_data_ptr() : nullptr,
      .y = y.mutable_data_ptr(),
      .format = a.scalar_type() == at::kHalf ? cuda::Format::fp16 : cuda::Format::fp32,
      .images = static_cast<int>(a.size(0)),
      .pixels = static_cast<int>(a.size(2) * a.size(3)),
      .channels = static_cast<int>(a.size(1)),
      .skip_channels = static_cast<int>(more),
      .gamma = gamma_.const_data_ptr<float>(),
      .beta = beta_.const_data_ptr<float>(),
      .groups = static_cast<int>(groups_),
      .eps = eps_,
      .silu = silu_};
  const c10::DeviceGuard device(a.device());
  normalise(norm, a.device());
  return y;
}

at::Tensor GroupNorm::by_library(const at::Tensor& x) const {
  const at::Tensor y = at::group_norm(x.contiguous(at::MemoryFormat::ChannelsLast), groups_,
                                      gamma_.to(x.dtype()), beta_.to(x.dtype()), eps_);
  return silu_ ? at::silu(y) : y;
}

kernels::GroupNorm GroupNorm::task(const at::Tensor& x, const at::Tensor* skip) const {
  return {.x = x.const_data_ptr(),
          .skip = skip ? skip->const_data_ptr() : nullptr,
          .format = format_of(x),
          .images = x.size(0),
          .pixels = x.size(2) * x.size(3),
          .channels = x.size(1),
          .skip_channels = skip ? skip->size(1) : 0,
          .gamma = gamma_.const_data_ptr<float>(),
          .beta = beta_.const_data_ptr<float>(),
          .groups = groups_,
          .eps = eps_,
          .silu = silu_};
}

void GroupNorm::run(const at::Tensor& x, const at::Tensor* skip, at::Tensor& y) const {
  kernels::GroupNorm norm = task(x, skip);
  norm.y = y.mutable_data_ptr();
  kernels::group_norm(norm);
}

GroupNorm::Affine GroupNorm::affine(const at::Tensor& x) const {
  const auto size = static_cast<std::size_t>(x.size(0) * x.size(1));
  Affine result{std::vector<float>(size), std::vector<float>(size)};
  kernels::group_norm_affine(task(x, nullptr), result.scale.data(), result.shift.data());
  return result;
}

at::Tensor GroupNorm::operator()(const at::Tensor& x) const {
  if (kernel_ == NormKernel::placed) return placed(x, nullptr);
  if (kernel_ == NormKernel::library) return by_library(x);
  at::Tensor y = at::empty_like(x);
  run(x, nullptr, y);
  return y;
}

at::Tensor GroupNorm::operator()(const at::Tensor& x, const at::Tensor& skip) const {
  if (kernel_ == NormKernel::placed) return placed(x, &skip);
  if (kernel_ == NormKernel::library) return by_library(at::cat({x, skip}, 1));
  at::Tensor y = at::empty({x.size(0), x.size(1) + skip.size(1), x.size(2), x.size(3)}, x.options(),
                           at::MemoryFormat::ChannelsLast);
  run(x, &skip, y);
  return y;
}

void GroupNorm::in_place(at::Tensor& x) const {
  if (kernel_ == NormKernel::placed) {
    x = placed(x, nullptr);
  } else if (kernel_ == NormKernel::library) {
    x = by_library(x);
  } else {
    run(x, nullptr, x);
  }
}

LayerNorm::LayerNorm(const Weights& weights, const Placement& place)
    : gamma_(place.packed ? weights("weight") : place.place(weights("weight"))),
      beta_(place.packed ? weights("bias") : place.place(weights("bias"))),
      packed_(place.packed) {}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  constexpr float k_eps = 1e-5F;
  if (!packed_) return at::layer_norm(x, {x.size(-1)}, gamma_, beta_, k_eps);
  at::Tensor y = at::empty_like(x);
  const std::int64_t channels = x.size(-1);
  kernels::layer_norm(x.const_data_ptr(), y.mutable_data_ptr(), format_of(x), x.numel() / channels,
                      channels, gamma_.const_data_ptr<float>(), beta_.const_data_ptr<float>(),
                      k_eps);
  return y;
}

}  // namespace navtalk::nets
