#include "kubernetes/api/api.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "core/base/error.h"
#include "core/base/sleep.h"
#include "core/log/log.h"
#include "core/text/percent.h"
#include "kubernetes/api/manifest.h"

namespace navtalk::kubernetes {
namespace {

using std::chrono::milliseconds;

constexpr int k_most_pages = 1'000, k_page = 250;
constexpr int k_most_restarts = 3;                    // of a list whose continuation expired
constexpr std::chrono::seconds k_watch{300};          // one stream
constexpr std::chrono::seconds k_watch_silence{150};  // bookmarks come about once a minute

milliseconds time_left(std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
  return std::max(left, milliseconds(1));
}

double random_part() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(random);
}

ApiFault unreadable(const std::string& what) {
  return {ApiFault::Kind::malformed, 0, what + " gave an answer that cannot be read"};
}

ApiResult<Pod> pod_in(const ApiResult<HttpAnswer>& result, const char* what) {
  if (const auto* fault = std::get_if<ApiFault>(&result)) return *fault;
  std::optional<Pod> pod = parse_pod(std::get<HttpAnswer>(result).body);
  if (!pod) return unreadable(what);
  return std::move(*pod);
}

}  // namespace

std::string Api::pods_path() const {
  return "/api/v1/namespaces/" + percent_encoded(cluster_.name_space) + "/pods";
}

ApiResult<HttpAnswer> Api::send_once(const Call& call, Clock::time_point until,
                                     const std::stop_token& stop) {
  HttpRequest request{.method = call.method,
                      .body = call.body,
                      .connect_timeout = times_.connect_timeout,
                      .timeout = std::min(times_.timeout, time_left(until))};
  if (!call.body.empty()) request.headers.emplace_back("Content-Type", call.type);
  return exchange(std::move(request), call.path, stop);
}

ApiResult<HttpAnswer> Api::exchange(HttpRequest request, const std::string& path,
                                    const std::stop_token& stop) {
  request.url = cluster_.url + path;
  request.tls = cluster_.tls;
  request.headers.emplace_back("Accept", "application/json");
  try {
    const std::string authorization = cluster_.authorization();
    if (!authorization.empty()) request.headers.emplace_back("Authorization", authorization);
  } catch (const Error& error) {
    return ApiFault{ApiFault::Kind::unprepared, 0, error.message()};
  }
  HttpClient http = idle_.with([](std::vector<HttpClient>& idle) {
    if (idle.empty()) return HttpClient();
    HttpClient taken = std::move(idle.back());
    idle.pop_back();
    return taken;
  });
  const HttpResult result = http.send(request, stop);
  idle_.with([&](std::vector<HttpClient>& idle) { idle.push_back(std::move(http)); });
  if (const auto* fault = std::get_if<HttpFault>(&result)) return fault_of(*fault);
  const auto& answer = std::get<HttpAnswer>(result);
  log::debug("kubernetes",
             {{"call", request.method + " " + path}, {"outcome", std::to_string(answer.status)}});
  if (answer.status >= 200 && answer.status < 300) return answer;
  return fault_of(answer);
}

ApiResult<HttpAnswer> Api::send(const Call& call, const std::stop_token& stop) {
  const Clock::time_point until = Clock::now() + times_.deadline;
  for (int tries = 1;; ++tries) {
    ApiResult<HttpAnswer> result = send_once(call, until, stop);
    const auto* fault = std::get_if<ApiFault>(&result);
    if (fault == nullptr || !fault->passing()) return result;
    const auto delay = retry_delay(*fault, tries, random_part());
    if (!delay || *delay >= time_left(until) || !sleep_for(*delay, stop)) return result;
  }
}

std::string Api::pods_of(const std::string& pool_id) const {
  return pods_path() +
         "?labelSelector=" + percent_encoded(std::string(k_pool_label) + "=" + pool_id);
}

PodList Api::list(const std::string& pool_id, const std::stop_token& stop) {
  const std::string first = pods_of(pool_id) + "&limit=" + std::to_string(k_page);
  PodList list;
  std::string next;
  int restarts = 0;
  for (int pages = 0; pages < k_most_pages; ++pages) {
    const std::string path = next.empty() ? first : first + "&continue=" + percent_encoded(next);
    const ApiResult<HttpAnswer> answer = send({"GET", path}, stop);
    if (const auto* fault = std::get_if<ApiFault>(&answer)) {
      // The first page again: what was read is of another moment.
      if (fault->kind == ApiFault::Kind::expired && ++restarts <= k_most_restarts) {
        list = {};
        next.clear();
        continue;
      }
      list.fault = *fault;
      return list;
    }
    auto page = parse_pods(std::get<HttpAnswer>(answer).body);
    if (!page) {
      list.fault = unreadable("the list of pods");
      return list;
    }
    std::move(page->pods.begin(), page->pods.end(), std::back_inserter(list.pods));
    list.version = page->version;
    if (!page->whole) list.fault = unreadable("the list of pods");
    next = page->next;
    if (next.empty()) return list;
  }
  list.fault = unreadable("the list of pods, whose pages do not end,");
  return list;
}

ApiResult<Nothing> Api::watch(const std::string& pool_id, const std::string& version,
                              const std::function<bool(std::string_view bytes)>& on_bytes,
                              const std::stop_token& stop) {
  const std::string path = pods_of(pool_id) + "&watch=1&allowWatchBookmarks=true&timeoutSeconds=" +
                           std::to_string(k_watch.count()) +
                           "&resourceVersion=" + percent_encoded(version);
  const ApiResult<HttpAnswer> result = exchange(
      {.connect_timeout = times_.connect_timeout,
       .timeout = k_watch + times_.timeout,
       .stall_timeout = k_watch_silence,
       .on_body = [&](const HttpAnswer&, std::string_view bytes) { return on_bytes(bytes); }},
      path, stop);
  if (const auto* fault = std::get_if<ApiFault>(&result)) return *fault;
  return Nothing{};
}

ApiResult<OwnerReference> Api::reference(const Owner& owner, const std::stop_token& stop) {
  const ApiResult<HttpAnswer> result = send({"GET", path_of(owner, cluster_.name_space)}, stop);
  if (const auto* fault = std::get_if<ApiFault>(&result)) return *fault;
  auto found = parse_owner_object(owner, std::get<HttpAnswer>(result).body);
  if (!found) return unreadable("the owner");
  return std::move(*found);
}

ApiResult<Pod> Api::pod(const std::string& name, const std::stop_token& stop) {
  return pod_in(send({"GET", pods_path() + "/" + percent_encoded(name)}, stop), "the pod");
}

ApiResult<Pod> Api::create(const std::string& manifest, const std::stop_token& stop) {
  return pod_in(send({"POST", pods_path(), manifest}, stop), "the create");
}

ApiResult<Pod> Api::patch(const std::string& name, const std::string& change,
                          const std::stop_token& stop) {
  const std::string path = pods_path() + "/" + percent_encoded(name);
  return pod_in(send({"PATCH", path, change, "application/merge-patch+json"}, stop), "the patch");
}

ApiResult<Nothing> Api::remove(const std::string& name, const Precondition& required, bool at_once,
                               const std::stop_token& stop) {
  nlohmann::json options = {{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
  if (!required.uid.empty()) options["preconditions"]["uid"] = required.uid;
  if (!required.version.empty()) options["preconditions"]["resourceVersion"] = required.version;
  if (at_once) options["gracePeriodSeconds"] = 0;
  const ApiResult<HttpAnswer> result =
      send({"DELETE", pods_path() + "/" + percent_encoded(name), options.dump()}, stop);
  if (const auto* fault = std::get_if<ApiFault>(&result)) return *fault;
  return Nothing{};
}

}  // namespace navtalk::kubernetes
