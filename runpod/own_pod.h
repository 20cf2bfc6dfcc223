// Idle shutdown from inside a pod: Runpod has no time limit for a pod, so a worker that no gateway has
// contacted for a while deletes the pod that it runs in.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "runpod/api/api.h"

namespace navtalk::runpod {

struct OwnPod {
  std::string id{};
  ApiOptions api{};
  ApiKey key;
};

// From RUNPOD_POD_ID, RUNPOD_API_KEY (Runpod sets both) and POD_DEAD_MAN_API_URL; nullopt
// outside a pod.
std::optional<OwnPod> own_pod();
// How long a worker may go without contact, from POD_DEAD_MAN_S; nullopt: not set, or not a whole
// number.
std::optional<std::chrono::seconds> idle_shutdown_after();
// True when Runpod accepted it, or does not know the pod. It is stopped where it may not be
// deleted: that ends the cost of the GPU.
bool remove_own_pod(const OwnPod& pod, const std::stop_token& stop = {});

}  // namespace navtalk::runpod
