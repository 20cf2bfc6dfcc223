#include "kubernetes/api/manifest.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::kubernetes {
namespace {

using nlohmann::json;

constexpr int k_grace_s = 30;  // from SIGTERM to SIGKILL

json toleration_json(const Toleration& toleration) {
  json object = {{"key", toleration.key}, {"operator", "Exists"}};
  if (!toleration.value.empty()) {
    object["operator"] = "Equal";
    object["value"] = toleration.value;
  }
  if (!toleration.effect.empty()) object["effect"] = toleration.effect;
  return object;
}

json container_json(const PodSettings& settings, const NewPod& pod) {
  json variables = json::array();
  for (const auto& [name, value] : pod.env) variables.push_back({{"name", name}, {"value", value}});
  const std::string count = std::to_string(settings.gpus);
  return {{"name", "worker"},
          {"image", settings.image},
          {"args", pod.args},
          {"env", variables},
          {"ports", json::array({{{"name", "http"}, {"containerPort", pod.port}}})},
          {"resources", {{"limits", {{settings.gpu_resource, count}}}}},
          {"securityContext",
           {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", {"ALL"}}}}}}};
}

json spec_json(const PodSettings& settings, const NewPod& pod) {
  // A worker that ended is replaced by the pool, under another name.
  json spec = {{"restartPolicy", "Never"},
               {"automountServiceAccountToken", false},
               {"enableServiceLinks", false},
               {"terminationGracePeriodSeconds", k_grace_s},
               {"securityContext", {{"seccompProfile", {{"type", "RuntimeDefault"}}}}},
               {"containers", json::array({container_json(settings, pod)})}};
  if (!settings.node_selector.empty()) spec["nodeSelector"] = settings.node_selector;
  for (const Toleration& one : settings.tolerations)
    spec["tolerations"].push_back(toleration_json(one));
  for (const std::string& secret : settings.image_pull_secrets)
    spec["imagePullSecrets"].push_back({{"name", secret}});
  if (!settings.priority_class.empty()) spec["priorityClassName"] = settings.priority_class;
  if (!settings.runtime_class.empty()) spec["runtimeClassName"] = settings.runtime_class;
  return spec;
}

}  // namespace

std::pair<std::string, std::string> parse_node_label(const std::string& text) {
  const std::size_t mark = text.find('=');
  if (mark == std::string::npos || mark == 0) {
    throw Error(Code::invalid, "'" + printable(text) + "' is not a node's label: write KEY=VALUE");
  }
  return {text.substr(0, mark), text.substr(mark + 1)};
}

Toleration parse_toleration(const std::string& text) {
  Toleration result{.key = text};
  if (const std::size_t mark = result.key.rfind(':'); mark != std::string::npos) {
    result.effect = result.key.substr(mark + 1);
    result.key.erase(mark);
    if (result.effect != "NoSchedule" && result.effect != "PreferNoSchedule" &&
        result.effect != "NoExecute") {
      throw Error(Code::invalid,
                  "'" + printable(text) +
                      "' is not a toleration: its effect is not NoSchedule, PreferNoSchedule or "
                      "NoExecute");
    }
  }
  if (const std::size_t mark = result.key.find('='); mark != std::string::npos) {
    result.value = result.key.substr(mark + 1);
    result.key.erase(mark);
  }
  if (!result.key.empty()) return result;
  throw Error(Code::invalid,
              "'" + printable(text) + "' is not a toleration: write KEY, KEY=VALUE or KEY:EFFECT");
}

std::string object_name(const std::string& row) {
  std::string name = row;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string manifest(const PodSettings& settings, const NewPod& pod) {
  const json labels = {{"app.kubernetes.io/name", "navtalk-worker"},
                       {"app.kubernetes.io/managed-by", "navtalk"},
                       {k_pool_label, pod.pool_id},
                       {k_gpu_label, pod.gpu_id}};
  const json annotations = {{k_row_annotation, pod.row}, {k_evictable_annotation, "true"}};
  json metadata = {{"name", pod.name}, {"labels", labels}, {"annotations", annotations}};
  if (pod.owner) {
    metadata["ownerReferences"].push_back({{"apiVersion", pod.owner->api_version},
                                           {"kind", pod.owner->kind},
                                           {"name", pod.owner->name},
                                           {"uid", pod.owner->uid}});
  }
  const json body = {{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata", metadata},
                     {"spec", spec_json(settings, pod)}};
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string evictable_patch(const std::string& uid, bool evictable) {
  const json annotations = {{k_evictable_annotation, evictable ? "true" : "false"}};
  return json({{"metadata", {{"uid", uid}, {"annotations", annotations}}}}).dump();
}

}  // namespace navtalk::kubernetes
