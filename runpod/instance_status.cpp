#include "runpod/instance_status.h"

namespace navtalk::runpod {

Instance::Status instance_status(PodStatus status) {
  switch (status) {
    case PodStatus::provisioning:
    case PodStatus::starting:
      return Instance::Status::starting;
    case PodStatus::running:
      return Instance::Status::running;
    case PodStatus::exited:
      return Instance::Status::stopped;
    case PodStatus::error:
      return Instance::Status::failed;
    case PodStatus::terminated:
      return Instance::Status::gone;
    case PodStatus::unknown:
      break;
  }
  return Instance::Status::unknown;
}

}  // namespace navtalk::runpod
