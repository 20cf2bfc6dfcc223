// The pods of one namespace through the Kubernetes API, one method a call. Calls are repeated when the
// fault passes (429, 5xx, transport), with jitter and the server's Retry-After as the least wait. This
// holds for a create too: a name exists once in a namespace, so a second one is refused. Thread-safe.
// A stop request ends every call and every wait.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/guarded.h"
#include "core/net/http_client.h"
#include "kubernetes/api/cluster.h"
#include "kubernetes/api/fault.h"
#include "kubernetes/api/messages.h"
#include "kubernetes/api/owner.h"

namespace navtalk::kubernetes {

struct ApiTimes {
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{15'000};   // of one request
  std::chrono::milliseconds deadline{30'000};  // of a whole call
};

struct Nothing {};
template <class T>
using ApiResult = std::variant<T, ApiFault>;

struct PodList {
  std::vector<Pod> pods{};
  std::string version{};  // as of which they are
  // Set when it is not every pod: absence proves nothing then.
  std::optional<ApiFault> fault{};
};

// What a pod must still be for it to be deleted; empty: whatever it is.
struct Precondition {
  std::string uid{}, version{};
};

class Api {
 public:
  Api(Cluster cluster, ApiTimes times) : cluster_(std::move(cluster)), times_(times) {}

  PodList list(const std::string& pool_id, const std::stop_token& stop);  // all pages
  // Every change since that version, as lines of JSON (parse_pod_event), until the server ends the stream,
  // which is after five minutes; once, without repeats. `on_bytes` gets them in pieces of any length;
  // false from it ends the stream with a fault.
  ApiResult<Nothing> watch(const std::string& pool_id, const std::string& version,
                           const std::function<bool(std::string_view bytes)>& on_bytes,
                           const std::stop_token& stop);
  ApiResult<OwnerReference> reference(const Owner& owner, const std::stop_token& stop);
  ApiResult<Pod> pod(const std::string& name, const std::stop_token& stop);
  // `conflict`: there is a pod of that name already.
  ApiResult<Pod> create(const std::string& manifest, const std::stop_token& stop);
  // `conflict`: it is not as required. `at_once`: without a grace period.
  ApiResult<Nothing> remove(const std::string& name, const Precondition& required, bool at_once,
                            const std::stop_token& stop);
  // A JSON merge patch (RFC 7396). `conflict`: the pod of that name is another one.
  ApiResult<Pod> patch(const std::string& name, const std::string& change,
                       const std::stop_token& stop);
  const std::string& name_space() const { return cluster_.name_space; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Call {
    std::string method, path;
    std::string body{};
    const char* type = "application/json";  // of the body
  };
  std::string pods_path() const;
  std::string pods_of(const std::string& pool_id) const;
  ApiResult<HttpAnswer> send(const Call& call, const std::stop_token& stop);
  ApiResult<HttpAnswer> exchange(HttpRequest request, const std::string& path,
                                 const std::stop_token& stop);
  ApiResult<HttpAnswer> send_once(const Call& call, Clock::time_point until,
                                  const std::stop_token& stop);

  const Cluster cluster_;
  const ApiTimes times_;
  Guarded<std::vector<HttpClient>> idle_{};  // connections that nobody uses now
};

}  // namespace navtalk::kubernetes
