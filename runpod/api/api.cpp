#include "runpod/api/api.h"

#include <algorithm>
#include <random>
#include <set>

#include "core/base/error.h"
#include "core/base/sleep.h"
#include "core/log/log.h"
#include "core/net/url.h"
#include "core/text/percent.h"
#include "runpod/api/server_date.h"

namespace navtalk::runpod {
namespace {

using std::chrono::milliseconds;

constexpr int k_most_pages = 1'000;  // of up to 1,000 pods
constexpr int k_least_share = 10;    // a repeat has at least this part of its time limit

// A request gets one millisecond at least: it says better than we could that there was no answer.
milliseconds left_until(Clock::time_point until) {
  return std::max(std::chrono::ceil<milliseconds>(until - Clock::now()), milliseconds(1));
}

double jitter() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(random);
}

void log_call(const std::string& what, const std::string& outcome, const std::string& request_id) {
  log::debug("runpod", {{"call", what}, {"outcome", outcome}, {"request", request_id}});
}

ApiFault malformed(const std::string& what) {
  return {ApiFault::Kind::malformed, 0, what + " gave an answer that cannot be read"};
}

// The answer's value as `parse` reads it.
template <class T, class F>
ApiResult<T> read(const ApiResult<HttpAnswer>& result, const char* what, F&& parse) {
  if (const auto* fault = std::get_if<ApiFault>(&result)) return *fault;
  std::optional<T> value = parse(std::get<HttpAnswer>(result).body);
  if (!value) return malformed(what);
  return std::move(*value);
}

// As old as it was when this was answered, where the answer says when that was.
Pod aged(Pod pod, const HttpAnswer& answer) {
  const auto date = parse_http_date(answer.header("date").value_or(""));
  if (date && pod.created_at) pod.age = age_at_most(*pod.created_at, *date);
  return pod;
}

}  // namespace

Api::Api(ApiOptions options, ApiKey key) : options_(std::move(options)), key_(std::move(key)) {
  parse_http_url(options_.url);
  while (options_.url.ends_with('/')) options_.url.pop_back();
}

milliseconds Api::quota_wait() const {
  return rate_.with([](const RateLimit& rate) { return rate.wait(Clock::now()); });
}

// False when the quota stays empty for longer than is waited, or a stop was asked.
bool Api::wait_for_quota(Clock::time_point until, const std::stop_token& stop) {
  const milliseconds wait = quota_wait();
  if (wait > std::min(options_.retry.patience, left_until(until))) return false;
  return wait.count() == 0 || sleep_for(wait, stop);
}

ApiResult<HttpAnswer> Api::send_once(const Call& call, const std::stop_token& stop) {
  HttpClient http = idle_.with([](std::vector<HttpClient>& idle) {
    if (idle.empty()) return HttpClient();
    HttpClient taken = std::move(idle.back());
    idle.pop_back();
    return taken;
  });
  HttpRequest request{.method = call.method,
                      .url = options_.url + call.path,
                      .headers = {{"Authorization", key_.bearer()}, {"Accept", "application/json"}},
                      .body = call.body,
                      .connect_timeout = options_.connect_timeout,
                      .timeout = std::min(call.timeout, left_until(call.until))};
  if (!call.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  const HttpResult result = http.send(request, stop);
  idle_.with([&](std::vector<HttpClient>& idle) { idle.push_back(std::move(http)); });

  const std::string what = call.method + " " + call.path;
  if (const auto* fault = std::get_if<HttpFault>(&result)) {
    log_call(what, fault->message, "");
    return fault_of(*fault);
  }
  const auto& answer = std::get<HttpAnswer>(result);
  log_call(what, std::to_string(answer.status), answer.header("x-request-id").value_or(""));
  rate_.with([&](RateLimit& rate) {
    if (const auto header = answer.header("ratelimit")) rate.read(*header, Clock::now());
  });
  if (answer.status >= 200 && answer.status < 300) return answer;
  ApiFault fault = fault_of(answer);
  fault.message = key_.struck_from(fault.message);
  if (const auto id = answer.header("x-request-id")) fault.message += " (request " + *id + ")";
  return fault;
}

ApiResult<HttpAnswer> Api::send(const Call& call, const std::stop_token& stop) {
  for (int tries = 1;; ++tries) {
    if (!wait_for_quota(call.until, stop)) {
      if (stop.stop_requested()) return ApiFault{ApiFault::Kind::stopped, 0, "stopped"};
      return ApiFault{ApiFault::Kind::rate_limited, 0, "the API's quota is used up", quota_wait()};
    }
    ApiResult<HttpAnswer> result = send_once(call, stop);
    const auto* fault = std::get_if<ApiFault>(&result);
    if (fault == nullptr) return result;
    if (fault->kind == ApiFault::Kind::rate_limited) {
      const milliseconds pause = fault->retry_after.value_or(milliseconds(1'000));
      rate_.with([&](RateLimit& rate) { rate.refused(pause, Clock::now()); });
    }
    const bool again =
        (call.repeat == Repeat::freely && fault->passing()) ||
        (call.repeat == Repeat::only_unsent && fault->kind == ApiFault::Kind::unreachable);
    const auto delay = retry_delay(options_.retry, tries, fault->retry_after, jitter());
    if (!again || !delay) return result;
    // With hardly any time left, another try would only replace this fault by a worse one.
    const milliseconds needed = *delay + call.timeout / k_least_share;
    if (needed >= left_until(call.until) || !sleep_for(*delay, stop)) return result;
  }
}

PodList Api::list(const std::stop_token& stop) {
  PodList list;
  std::string cursor;
  std::set<std::string> seen;
  const Clock::time_point until = deadline();
  for (int pages = 0; pages < k_most_pages; ++pages) {
    const std::string path = cursor.empty() ? "/pods" : "/pods?cursor=" + percent_encoded(cursor);
    const ApiResult<HttpAnswer> answer = send(get(path, until), stop);
    const auto page = read<PodPage>(answer, "the list of pods", parse_pods);
    if (const auto* fault = std::get_if<ApiFault>(&page)) {
      list.fault = *fault;
      return list;
    }
    const auto& part = std::get<PodPage>(page);
    for (Pod pod : part.pods)
      list.pods.push_back(aged(std::move(pod), std::get<HttpAnswer>(answer)));
    if (!part.whole) list.fault = malformed("the list of pods");
    cursor = part.next_cursor;
    if (cursor.empty()) return list;
    if (!seen.insert(cursor).second) break;  // it goes in circles
  }
  list.fault = malformed("the list of pods, whose pages do not end,");
  return list;
}

ApiResult<Pod> Api::pod(const std::string& id, const std::stop_token& stop) {
  return read<Pod>(send(get("/pods/" + percent_encoded(id)), stop), "the pod", parse_pod);
}

ApiResult<Pod> Api::look_up(const std::string& id, const std::stop_token& stop) {
  const Call call{"GET",         "/pods/" + percent_encoded(id), "",
                  Repeat::never, options_.lookup_timeout,        deadline()};
  return read<Pod>(send(call, stop), "the pod", parse_pod);
}

ApiResult<Pod> Api::create(const NewPod& pod, const std::stop_token& stop) {
  const Call call{"POST",         "/pods", to_json(pod), Repeat::only_unsent, options_.slow_timeout,
                  slow_deadline()};
  return read<Pod>(send(call, stop), "the create", parse_pod);
}

ApiResult<Nothing> Api::remove(const std::string& id, const std::stop_token& stop) {
  const Call call{"DELETE",  "/pods/" + percent_encoded(id), "", Repeat::freely, options_.timeout,
                  deadline()};
  const ApiResult<HttpAnswer> result = send(call, stop);
  if (const auto* fault = std::get_if<ApiFault>(&result)) return *fault;
  return Nothing{};
}

ApiResult<Pod> Api::action(const std::string& id, std::string_view action, milliseconds timeout,
                           Clock::time_point until, const std::stop_token& stop) {
  const Call call{"POST",
                  "/pods/" + percent_encoded(id) + "/action",
                  action_json(action),
                  Repeat::freely,
                  timeout,
                  until};
  return read<Pod>(send(call, stop), "the action", parse_pod);
}

ApiResult<Pod> Api::start(const std::string& id, const std::stop_token& stop) {
  return action(id, "start", options_.slow_timeout, slow_deadline(), stop);
}

ApiResult<Pod> Api::stop_pod(const std::string& id, const std::stop_token& stop) {
  return action(id, "stop", options_.timeout, deadline(), stop);
}

ApiResult<std::vector<GpuOffer>> Api::gpu_offers(const std::string& cloud,
                                                 const std::stop_token& stop) {
  const std::string path =
      "/catalog/gpus?include=AVAILABILITY&product=POD&count=1&cloud=" + percent_encoded(cloud);
  const Call call{"GET",
                  path,
                  "",
                  Repeat::never,
                  options_.catalog_timeout,
                  Clock::now() + options_.catalog_timeout};
  return read<std::vector<GpuOffer>>(send(call, stop), "the catalog", parse_gpu_offers);
}

ApiResult<std::vector<PodBill>> Api::pod_bills(int days, const std::stop_token& stop) {
  const std::string path = "/billing/pods?bucketSize=day&lastN=" + std::to_string(days);
  return read<std::vector<PodBill>>(send(get(path), stop), "the bill", parse_pod_bills);
}

}  // namespace navtalk::runpod
