#include "gpu/model/face_net_options.h"

namespace navtalk {

std::string numbers_of(const FaceNetOptions& options) {
  const bool gpu = options.device.kind == Device::Kind::cuda;
  return std::string(name(options.precision)) + (gpu ? " cuda" : " cpu");
}

}  // namespace navtalk
