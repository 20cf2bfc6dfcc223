// Runpod's REST API v2, one method a call. Reading, deleting, stopping and starting are repeated
// when the fault passes (429, 5xx, transport), with full jitter and the server's Retry-After as the
// least wait; creating is sent once, and again only if it never left. A call has a deadline, which
// holds for all of it: repeats, waits, the pages of a list. Thread-safe. A stop request ends every
// call and every wait.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/guarded.h"
#include "core/net/http_client.h"
#include "runpod/api/api_key.h"
#include "runpod/api/fault.h"
#include "runpod/api/messages.h"
#include "runpod/api/rate_limit.h"
#include "runpod/api/retry.h"

namespace navtalk::runpod {

struct ApiOptions {
  std::string url = "https://api.runpod.io/v2";
  std::chrono::milliseconds connect_timeout{10'000};
  // Of one request.
  std::chrono::milliseconds timeout{30'000};
  std::chrono::milliseconds slow_timeout{120'000};    // create and start
  std::chrono::milliseconds catalog_timeout{10'000};  // asked once: one can do without
  std::chrono::milliseconds lookup_timeout{10'000};   // asked once: the caller asks again later
  // Of a whole call.
  std::chrono::milliseconds deadline{60'000};
  std::chrono::milliseconds slow_deadline{120'000};  // create and start
  RetryPolicy retry{};
};

struct Nothing {};
template <class T>
using ApiResult = std::variant<T, ApiFault>;

struct PodList {
  std::vector<Pod> pods;
  // Set when it is not every pod: absence proves nothing then.
  std::optional<ApiFault> fault{};
};

class Api {
 public:
  // Error{invalid} for an invalid URL.
  Api(ApiOptions options, ApiKey key);

  PodList list(const std::stop_token& stop);  // all pages
  ApiResult<Pod> pod(const std::string& id, const std::stop_token& stop);
  ApiResult<Pod> look_up(const std::string& id, const std::stop_token& stop);  // sent once
  // `unknown` and `malformed`: a pod may exist, and is paid for.
  ApiResult<Pod> create(const NewPod& pod, const std::stop_token& stop);
  ApiResult<Nothing> remove(const std::string& id, const std::stop_token& stop);
  ApiResult<Pod> start(const std::string& id, const std::stop_token& stop);
  ApiResult<Pod> stop_pod(const std::string& id, const std::stop_token& stop);
  ApiResult<std::vector<GpuOffer>> gpu_offers(const std::string& cloud,
                                              const std::stop_token& stop);

  // What every pod of the account has cost on each of the last `days` days (UTC), today included.
  ApiResult<std::vector<PodBill>> pod_bills(int days, const std::stop_token& stop);

  // How long no call should be made, as the quota's headers and refusals say.
  std::chrono::milliseconds quota_wait() const;

 private:
  enum class Repeat { freely, only_unsent, never };
  struct Call {
    std::string method, path;
    std::string body{};
    Repeat repeat = Repeat::freely;
    std::chrono::milliseconds timeout;
    Clock::time_point until;
  };
  Clock::time_point deadline() const { return Clock::now() + options_.deadline; }
  Clock::time_point slow_deadline() const { return Clock::now() + options_.slow_deadline; }
  Call get(std::string path) const { return get(std::move(path), deadline()); }
  Call get(std::string path, Clock::time_point until) const {
    return {"GET", std::move(path), "", Repeat::freely, options_.timeout, until};
  }
  ApiResult<HttpAnswer> send(const Call& call, const std::stop_token& stop);
  ApiResult<HttpAnswer> send_once(const Call& call, const std::stop_token& stop);
  ApiResult<Pod> action(const std::string& id, std::string_view action,
                        std::chrono::milliseconds timeout, Clock::time_point until,
                        const std::stop_token& stop);
  bool wait_for_quota(Clock::time_point until, const std::stop_token& stop);

  ApiOptions options_;
  ApiKey key_;
  Guarded<RateLimit> rate_{};
  Guarded<std::vector<HttpClient>> idle_{};  // connections that nobody uses now
};

}  // namespace navtalk::runpod
