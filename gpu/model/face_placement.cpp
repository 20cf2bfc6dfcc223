#include "gpu/model/face_placement.h"

#include <algorithm>

#include "gpu/nets/execution.h"
#include "gpu/nets/layers/format.h"

namespace navtalk {

nets::Placement face_placement(const FaceNetOptions& options) {
  const bool gpu = options.device.kind == Device::Kind::cuda;
  gpu ? require_gpu_format(options.precision) : require_cpu_format(options.precision);
  const at::ScalarType type = nets::scalar_type(options.precision);
  if (!gpu) return {type};
  return {type, at::Device(at::kCUDA, static_cast<at::DeviceIndex>(options.device.index))};
}

int face_threads(const FaceNetOptions& options) {
  return options.threads > 0 ? std::min(options.threads, usable_cores()) : usable_cores();
}

}  // namespace navtalk
