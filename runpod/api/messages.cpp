#include "runpod/api/messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/lenient_json.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"

namespace navtalk::runpod {
namespace {

using nlohmann::json;

constexpr std::pair<std::string_view, PodStatus> k_statuses[] = {
    {"PROVISIONING", PodStatus::provisioning},
    {"STARTING", PodStatus::starting},
    {"RUNNING", PodStatus::running},
    {"EXITED", PodStatus::exited},
    {"ERROR", PodStatus::error},
    {"TERMINATED", PodStatus::terminated},
};

constexpr std::pair<std::string_view, Availability> k_levels[] = {
    {"NONE", Availability::none},
    {"LOW", Availability::low},
    {"MEDIUM", Availability::medium},
    {"HIGH", Availability::high},
};

std::string text_or_empty(const json& object, const char* name) {
  return text_field(object, name).value_or("");
}

std::optional<Pod> pod_of(const json& object) {
  const std::string id = text_or_empty(object, "id");
  if (id.empty()) return std::nullopt;
  Pod pod{.id = id, .name = text_or_empty(object, "name")};
  pod.status_word = text_or_empty(object, "status");
  if (pod.status_word.empty()) pod.status_word = text_or_empty(object, "desiredStatus");
  pod.status = parse_status(pod.status_word);
  const json& gpu = object_field(object, "gpu");
  pod.gpu_type = text_or_empty(gpu, "id");
  pod.gpu_count = static_cast<int>(std::clamp(whole_field(gpu, "count").value_or(0), 0LL, 1000LL));
  pod.cloud = text_or_empty(object, "cloud");
  pod.data_center = text_or_empty(object, "dataCenterId");
  pod.usd_per_hour = std::max(0.0, number_field(object, "cost").value_or(0));
  pod.locked = bool_field(object, "locked").value_or(false);
  pod.created_at = parse_rfc3339(text_or_empty(object, "createdAt"));
  pod.has_runtime = !object_field(object, "runtime").empty();
  return pod;
}

std::string detail_of(const json& problem) {
  for (const char* name : {"detail", "message", "error", "title"}) {
    std::string text = text_or_empty(problem, name);
    if (!text.empty()) return text;
  }
  return text_or_empty(object_field(problem, "error"), "message");
}

}  // namespace

PodStatus parse_status(std::string_view word) {
  for (const auto& [text, status] : k_statuses) {
    if (word == text) return status;
  }
  return PodStatus::unknown;
}

std::string_view name(PodStatus status) {
  for (const auto& [text, known] : k_statuses) {
    if (status == known) return text;
  }
  return "unknown";
}

Availability parse_availability(std::string_view word) {
  for (const auto& [text, level] : k_levels) {
    if (word == text) return level;
  }
  return Availability::unknown;
}

std::optional<Pod> parse_pod(const std::string& body) {
  const std::optional<json> object = parse_json(body);
  return object ? pod_of(*object) : std::nullopt;
}

std::optional<PodPage> parse_pods(const std::string& body) {
  const std::optional<json> answer = parse_json(body);
  if (!answer) return std::nullopt;
  // v1 answered with the bare array.
  const json& pods = answer->is_array() ? *answer : array_field(*answer, "pods");
  if (!answer->is_array() && !(answer->is_object() && answer->contains("pods"))) {
    return std::nullopt;
  }
  PodPage page;
  page.whole = answer->is_array() || (*answer)["pods"].is_array();
  for (const json& object : pods) {
    if (const std::optional<Pod> pod = pod_of(object)) {
      page.pods.push_back(*pod);
    } else {
      page.whole = false;
    }
  }
  page.next_cursor = text_or_empty(object_field(*answer, "pagination"), "nextCursor");
  return page;
}

std::optional<std::vector<GpuOffer>> parse_gpu_offers(const std::string& body) {
  const std::optional<json> answer = parse_json(body);
  if (!answer || !answer->is_object() || !answer->contains("gpus")) return std::nullopt;
  std::vector<GpuOffer> offers;
  for (const json& gpu : array_field(*answer, "gpus")) {
    GpuOffer offer{.gpu_type = text_or_empty(gpu, "id")};
    if (offer.gpu_type.empty()) continue;
    const json& price = object_field(gpu, "price");
    offer.secure_usd_per_hour = std::max(0.0, number_field(price, "secure").value_or(0));
    offer.community_usd_per_hour = std::max(0.0, number_field(price, "community").value_or(0));
    offer.availability = parse_availability(text_or_empty(gpu, "availability"));
    for (const json& center : array_field(gpu, "dataCenters")) {
      offer.data_centers[text_or_empty(center, "id")] =
          parse_availability(text_or_empty(center, "availability"));
    }
    offers.push_back(std::move(offer));
  }
  return offers;
}

std::optional<std::vector<PodBill>> parse_pod_bills(const std::string& body) {
  const std::optional<json> answer = parse_json(body);
  if (!answer || !answer->is_object() || !answer->contains("records")) return std::nullopt;
  std::vector<PodBill> bills;
  for (const json& record : array_field(*answer, "records")) {
    const std::optional<double> usd = number_field(record, "totalAmount");
    const std::string pod = text_or_empty(record, "podId");
    if (pod.empty() || !usd) return std::nullopt;  // half a bill proves nothing
    bills.push_back({pod, *usd});
  }
  return bills;
}

Problem parse_problem(const std::string& body) {
  const std::optional<json> answer = parse_json(body);
  if (!answer || !answer->is_object()) return {};
  Problem problem{.detail = detail_of(*answer)};
  problem.is_problem_json = !problem.detail.empty();
  for (const std::string& error : texts_field(*answer, "errors")) problem.detail += "; " + error;
  constexpr std::size_t k_longest = 600;  // bytes; it goes into logs and events
  problem.detail = printable(problem.detail.substr(0, k_longest));
  return problem;
}

std::string to_json(const NewPod& pod) {
  json gpu = {{"id", pod.gpu_type}, {"count", pod.gpu_count}};
  if (!pod.min_cuda.empty()) gpu["minCudaVersion"] = pod.min_cuda;
  json body = {{"name", pod.name},    {"image", pod.image}, {"gpu", gpu},    {"cloud", pod.cloud},
               {"disk", pod.disk_gb}, {"ports", pod.ports}, {"env", pod.env}};
  if (!pod.data_center.empty()) body["dataCenterIds"] = {pod.data_center};
  if (!pod.args.empty()) body["args"] = pod.args;
  if (!pod.registry.empty()) body["registry"] = pod.registry;
  if (!pod.volume_id.empty()) {
    body["mounts"] = {
        {"network", json::array({{{"volumeId", pod.volume_id}, {"path", pod.volume_path}}})}};
  }
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string action_json(std::string_view action) { return json({{"action", action}}).dump(); }

}  // namespace navtalk::runpod
