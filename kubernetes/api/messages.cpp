#include "kubernetes/api/messages.h"

#include <nlohmann/json.hpp>

#include "core/text/lenient_json.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"
#include "kubernetes/api/manifest.h"

namespace navtalk::kubernetes {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* name) {
  return printable(text_field(object, name).value_or(""));
}

// Why its container does not run; empty: nothing is said.
std::string waiting_reason(const json& status) {
  for (const json& container : array_field(status, "containerStatuses")) {
    const json& state = object_field(container, "state");
    for (const char* part : {"waiting", "terminated"}) {
      std::string reason = text_of(object_field(state, part), "reason");
      if (!reason.empty()) return reason;
    }
  }
  return "";
}

bool says_unschedulable(const json& status) {
  for (const json& condition : array_field(status, "conditions")) {
    if (text_of(condition, "type") == "PodScheduled" && text_of(condition, "status") == "False" &&
        text_of(condition, "reason") == "Unschedulable") {
      return true;
    }
  }
  return false;
}

std::optional<Pod> pod_from(const json& object) {
  const json& metadata = object_field(object, "metadata");
  const json& status = object_field(object, "status");
  Pod pod{.name = text_of(metadata, "name"), .uid = text_of(metadata, "uid")};
  if (pod.name.empty() || pod.uid.empty()) return std::nullopt;
  pod.version = text_of(metadata, "resourceVersion");
  pod.pool_id = text_of(object_field(metadata, "labels"), k_pool_label);
  pod.row = text_of(object_field(metadata, "annotations"), k_row_annotation);
  const std::string evictable =
      text_of(object_field(metadata, "annotations"), k_evictable_annotation);
  if (evictable == "true" || evictable == "false") pod.evictable = evictable == "true";
  pod.terminating = !text_of(metadata, "deletionTimestamp").empty();
  pod.created_at = parse_rfc3339(text_of(metadata, "creationTimestamp"));
  pod.node = text_of(object_field(object, "spec"), "nodeName");
  pod.phase = text_of(status, "phase");
  pod.ip = text_of(status, "podIP");
  pod.reason = text_of(status, "reason");
  if (pod.reason.empty()) pod.reason = waiting_reason(status);
  pod.unschedulable = pod.node.empty() && says_unschedulable(status);
  return pod;
}

}  // namespace

std::optional<Pod> parse_pod(const std::string& body) {
  const std::optional<json> object = parse_json(body);
  if (!object || text_field(*object, "kind") != "Pod") return std::nullopt;
  return pod_from(*object);
}

std::optional<PodEvent> parse_pod_event(const std::string& line) {
  const std::optional<json> event = parse_json(line);
  if (!event) return std::nullopt;
  const std::string type = text_of(*event, "type");
  const json& object = object_field(*event, "object");
  if (type == "ERROR") {
    const auto code = whole_field(object, "code").value_or(500);
    const int status = code >= 400 && code < 600 ? static_cast<int>(code) : 500;
    return PodEvent{PodEvent::Kind::error, {}, fault_of({.status = status, .body = object.dump()})};
  }
  if (type == "BOOKMARK") {
    Pod at{.version = text_of(object_field(object, "metadata"), "resourceVersion")};
    if (at.version.empty()) return std::nullopt;
    return PodEvent{PodEvent::Kind::bookmark, std::move(at), {}};
  }
  const bool gone = type == "DELETED";
  if (!gone && type != "ADDED" && type != "MODIFIED") return std::nullopt;
  std::optional<Pod> pod = pod_from(object);
  if (!pod) return std::nullopt;
  return PodEvent{gone ? PodEvent::Kind::gone : PodEvent::Kind::is, std::move(*pod), {}};
}

std::optional<PodPage> parse_pods(const std::string& body) {
  const std::optional<json> answer = parse_json(body);
  if (!answer || text_field(*answer, "kind") != "PodList") return std::nullopt;
  PodPage page;
  for (const json& object : array_field(*answer, "items")) {
    if (const std::optional<Pod> pod = pod_from(object)) {
      page.pods.push_back(*pod);
    } else {
      page.whole = false;
    }
  }
  page.version = text_field(object_field(*answer, "metadata"), "resourceVersion").value_or("");
  // Not as it is printed: it goes back as it came.
  page.next = text_field(object_field(*answer, "metadata"), "continue").value_or("");
  return page;
}

}  // namespace navtalk::kubernetes
