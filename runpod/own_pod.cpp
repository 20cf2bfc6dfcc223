#include "runpod/own_pod.h"

#include "core/base/environment.h"
#include "core/log/log.h"
#include "core/text/number.h"

namespace navtalk::runpod {
std::optional<OwnPod> own_pod() {
  const std::string id = environment_value("RUNPOD_POD_ID");
  const std::string key = environment_value("RUNPOD_API_KEY");
  if (id.empty() || key.empty()) return std::nullopt;
  ApiOptions api;
  const std::string url = environment_value("POD_DEAD_MAN_API_URL");
  if (!url.empty()) api.url = url;
  return OwnPod{id, api, ApiKey(key)};
}

std::optional<std::chrono::seconds> idle_shutdown_after() {
  const auto seconds = parse_number<int>(environment_value("POD_DEAD_MAN_S"));
  if (!seconds || *seconds <= 0) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

bool remove_own_pod(const OwnPod& pod, const std::stop_token& stop) {
  Api api(pod.api, pod.key);
  const ApiResult<Nothing> removed = api.remove(pod.id, stop);
  const auto* const fault = std::get_if<ApiFault>(&removed);
  if (fault == nullptr || fault->kind == ApiFault::Kind::not_found) return true;
  log::error("this pod cannot delete itself; it stops instead", {{"why", fault->message}});
  const ApiResult<Pod> stopped = api.stop_pod(pod.id, stop);
  return std::holds_alternative<Pod>(stopped);
}

}  // namespace navtalk::runpod
