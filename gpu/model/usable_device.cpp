#include "gpu/model/usable_device.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/log/log.h"
#include "gpu/cuda/devices.h"
#include "gpu/cuda/torch_library.h"

namespace navtalk {
namespace {

// The kernels are compiled for this and later ones (cmake/cuda.cmake), and the nets compute in fp16.
constexpr int k_least_capability = 80;

// Why the GPU cannot be used, as the end of a sentence; empty where it can.
std::string missing(const cuda::Devices& found, int index) {
  if (found.list.empty()) return found.missing;
  const auto count = static_cast<int>(found.list.size());
  if (index >= count)
    return fmt::format("the CUDA devices of this machine are cuda:0 to cuda:{}", count - 1);
  const cuda::DeviceProperties& gpu = found.list[static_cast<std::size_t>(index)];
  if (gpu.capability < k_least_capability)
    return fmt::format("{} has compute capability {}.{}, and {}.{} is the least that can be used",
                       gpu.name, gpu.capability / 10, gpu.capability % 10, k_least_capability / 10,
                       k_least_capability % 10);
  return cuda::load_torch();
}

}  // namespace

Device usable_device(std::optional<Device> asked) {
  if (asked && asked->kind == Device::Kind::cpu) return *asked;
  const Device gpu = asked.value_or(Device{.kind = Device::Kind::cuda, .index = 0});
  const cuda::Devices found = cuda::devices();
  const std::string why = missing(found, gpu.index);
  if (why.empty()) return gpu;
  if (asked)
    throw Error(Code::invalid,
                fmt::format("device '{}': {}; use --device cpu or auto", name(gpu), why));
  if (found.built) log::info("the nets run on the CPU: " + why);
  return {};
}

}  // namespace navtalk
