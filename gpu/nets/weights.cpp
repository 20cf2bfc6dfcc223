#include "gpu/nets/weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "core/base/error.h"
#include "gpu/nets/tensor_fit.h"

namespace navtalk::nets {
namespace {

at::ScalarType scalar_type(const TensorInfo& info) {
  switch (info.dtype) {
    case DType::f64:
      return at::kDouble;
    case DType::f32:
      return at::kFloat;
    case DType::f16:
      return at::kHalf;
    case DType::bf16:
      return at::kBFloat16;
    default:
      throw Error(Code::invalid, fmt::format("tensor {} is {}, not a floating point type",
                                             info.name, name(info.dtype)));
  }
}

void append(std::string& text, std::string_view what, const std::vector<std::string>& names) {
  constexpr std::size_t k_shown = 4;
  if (names.empty()) return;
  const std::vector<std::string> shown(names.begin(),
                                       names.begin() + std::min(k_shown, names.size()));
  text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, fmt::join(shown, ", "));
  if (names.size() > k_shown) text += fmt::format(" and {} more", names.size() - k_shown);
}

void require_fit(const Fit& fit, const std::filesystem::path& file) {
  if (fit.ok()) return;
  std::string faults;
  append(faults, "missing", fit.missing);
  append(faults, "surplus", fit.surplus);
  append(faults, "mis-shaped", fit.mis_shaped);
  append(faults, "of the wrong type", fit.wrong_dtype);
  throw Error(Code::invalid,
              fmt::format("{} does not fit its configuration: {}; `navtalk model check` lists all",
                          file.string(), faults));
}

}  // namespace

Weights Weights::open(Net net, const std::filesystem::path& file,
                      const std::vector<TensorInfo>& expected) {
  auto checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(file));
  require_fit(compare(net, *checkpoint, expected), file);
  std::map<std::string, std::string> stored;
  for (const TensorInfo& info : checkpoint->tensors())
    if (const auto canonical = canonical_name(net, info.name)) stored[*canonical] = info.name;
  std::map<std::string, Shape> shapes;
  for (const TensorInfo& info : expected) shapes[info.name] = info.shape;
  return Weights([checkpoint, stored, shapes](const std::string& name) {
    const auto found = stored.find(name);
    const TensorInfo* info = found == stored.end() ? nullptr : checkpoint->find(found->second);
    if (!info)
      throw Error(Code::invalid,
                  fmt::format("{}: tensor {} is missing", checkpoint->path().string(), name));
    at::Tensor tensor = at::empty(info->shape, at::TensorOptions().dtype(scalar_type(*info)));
    checkpoint->read(info->name,
                     {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()});
    // The fit allows linear weights that are stored as 1x1 convolutions.
    return tensor.to(at::kFloat).view(shapes.at(name));
  });
}

Weights Weights::in(const std::string& prefix) const {
  Weights below(read_);
  below.prefix_ = prefix_ + prefix + ".";
  return below;
}

Weights Weights::in(const std::string& prefix, std::int64_t index) const {
  return in(prefix + "." + std::to_string(index));
}

}  // namespace navtalk::nets
