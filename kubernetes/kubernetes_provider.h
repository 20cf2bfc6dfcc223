// Cloud GPUs as pods of a Kubernetes cluster (docs/kubernetes.md). A pod has the name of its row, so
// that the server itself refuses a second one, and labels by which it is found again after a crash. A
// pod for which the cluster has no node is deleted again: no capacity. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/guarded.h"
#include "kubernetes/api/api.h"
#include "kubernetes/api/manifest.h"
#include "kubernetes/eviction_marks.h"
#include "kubernetes/pod_id.h"
#include "kubernetes/watch/pod_watch.h"
#include "scheduler/health/worker_tokens.h"
#include "scheduler/provision/provider.h"

namespace navtalk::kubernetes {

struct ProviderOptions {
  Cluster cluster{};
  ApiTimes times{};
  std::string worker_url = "http://{ip}:{port}";  // {pod} and {namespace} are filled in too
  std::string pool_id{};
  PodSettings pod{};
  std::optional<Owner> owner{};  // of every pod
  // False: create() is refused and the image may be empty; existing pods are managed as always.
  bool creates = true;
  int port = 2160;
  WorkerTokens worker_tokens{};
  // A worker ends, and its pod with it, when no gateway has contacted it for this long.
  std::chrono::seconds idle_shutdown{600};
  // How long a pod may wait for a node, which an autoscaler may have to start.
  std::chrono::milliseconds schedule{60'000};
  std::chrono::milliseconds look_again{500};        // while it waits
  std::chrono::milliseconds account_pause{60'000};  // after 401 and 403
  double usd_per_hour = 1;                          // what one pod is counted at
  int max_pods = 100;
  // Reserves this price for the row's pod before it is created; false: it would exceed the limit. Empty: no limit.
  std::function<bool(const Gpu&, double usd_per_hour)> reserve{};
};

class KubernetesProvider : public Provider {
 public:
  // Error{invalid} when the image is missing although `creates` is set, or worker_url is not a URL.
  explicit KubernetesProvider(ProviderOptions options);

  Source source() const override { return Source::cloud; }
  Outcome create(const Gpu& gpu, const std::stop_token& stop) override;
  // A pod cannot be stopped and started again: both are refused.
  Outcome wake(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome pause(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome destroy(const Gpu& gpu, const std::stop_token& stop) override;
  Listing list(const std::stop_token& stop) override;
  Lookup find(const Gpu& gpu, const std::stop_token& stop) override;
  // Pods with sessions are marked as not to be evicted, all others as free for the autoscaler.
  void attend(const std::vector<Gpu>& gpus, const std::stop_token& stop) override;
  // Begins to watch the pods at the first call.
  bool changed() override;
  // The pod's node.
  std::string place(const Gpu& gpu) const override;
  int creatable(const std::vector<Gpu>& existing) const override;
  double expected_usd_per_hour() const override { return options_.usd_per_hour; }

 private:
  using Clock = std::chrono::steady_clock;

  std::string order(const Gpu& gpu, const std::optional<OwnerReference>& owner) const;
  void saw(const Pod& pod);
  std::string url(const Pod& pod) const;
  Instance instance(const Pod& pod) const;
  Outcome without_owner(const ApiFault& fault);
  Outcome adopt_existing(const Gpu& gpu, const ApiFault& why, const std::stop_token& stop);
  Outcome await_node(Pod pod, const std::stop_token& stop);
  Outcome give_up(Pod pod, const std::stop_token& stop);
  bool mark(const PodId& id, bool evictable, const std::stop_token& stop);
  Outcome outcome_of(const ApiFault& fault, const std::string& what);

  const ProviderOptions options_;
  Api api_;
  Guarded<Clock::time_point> account_pause_until_{};
  Guarded<EvictionMarks> marks_{};
  Guarded<Clock::time_point> mark_again_{};
  Guarded<std::map<std::string, std::string>> nodes_{};  // of pods, by uid
  Guarded<std::unique_ptr<PodWatch>> watch_{};           // empty: nobody has asked for changes
};

}  // namespace navtalk::kubernetes
