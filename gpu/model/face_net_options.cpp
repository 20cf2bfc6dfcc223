#include "gpu/model/face_net_options.h"

#include <algorithm>

namespace navtalk {

int pictures_at_once(const FaceNetOptions& options) {
  if (options.batch > 0) return std::min(options.batch, k_most_pictures);
  // A CPU does not gain with every net, and the detector needs much memory for each large picture.
  return options.device.kind == Device::Kind::cuda ? 8 : 1;
}

std::string numbers_of(const FaceNetOptions& options) {
  const bool gpu = options.device.kind == Device::Kind::cuda;
  const int batch = pictures_at_once(options);
  return std::string(name(options.precision)) + (gpu ? " cuda" : " cpu") +
         (batch > 1 ? ", " + std::to_string(batch) + " at once" : "");
}

}  // namespace navtalk
