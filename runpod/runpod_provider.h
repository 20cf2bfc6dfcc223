// Cloud GPUs as pods of Runpod (docs/runpod.md). Create tries the candidates in order, each once; an
// unknown outcome ends it, since a pod may exist. What was learned (cooldowns, prices, quota, a
// refused account) lives in this object. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/guarded.h"
#include "runpod/api/api.h"
#include "runpod/candidates.h"
#include "scheduler/health/worker_tokens.h"
#include "scheduler/provision/provider.h"

namespace navtalk::runpod {

struct SpendingCap {
  // Reserves that price for a pod of that row, before the pod is created. False: the cap forbids it.
  std::function<bool(const Gpu&, double usd_per_hour)> reserve;
  // What pods of that GPU type have lately cost in truth, where it was more than expected; else 0.
  std::function<double(const std::string& gpu_type)> seen;
};

struct ProviderOptions {
  ApiOptions api{};
  std::string proxy_url = "https://{pod}-{port}.proxy.runpod.net";
  std::string pool{}, pool_id{};  // passed to the pod, for people who inspect it
  Preferences preferences{};
  std::string image{};
  // False: create is refused, and image and preferences may be missing; existing pods are managed all
  // the same.
  bool creates = true;
  // {port}, {slots} and {silence_s} are filled in.
  std::string args =
      "serve --worker --listen 0.0.0.0:{port} --slots {slots} --gateway-silence-s {silence_s}";
  std::string min_cuda{}, registry{}, volume_id{}, volume_path{};
  int port = 2160, disk_gb = 40;
  // A pod's environment can be read in clear by everyone who may list pods: its worker gets a token
  // that opens no other.
  WorkerTokens worker_tokens{};
  // A pod that no gateway has contacted for so long deletes itself (own_pod.h).
  std::chrono::seconds idle_shutdown{600};
  std::map<std::string, std::string> env{};  // further variables of the pod
  int max_pods = 100;
  int tries_per_create = 12;  // candidates asked in one create
  std::chrono::milliseconds cooldown{60'000}, longest_cooldown{600'000};
  std::chrono::milliseconds account_pause{300'000};  // after 401, 402, 403, 410
  std::chrono::milliseconds catalog_age{60'000};
  double fallback_usd_per_hour = 1;  // while no price is known
  // The pool's cap on spending; nullopt: none. With it, a GPU type without a known price is created
  // only if it is named here, and counts as the fallback until an answer tells its price.
  std::optional<SpendingCap> cap{};
  std::vector<std::string> allow_unknown_price{};
};

class RunpodProvider : public Provider {
 public:
  // Error{invalid} when the image, the GPU types or the clouds are missing although `creates` is set,
  // or a URL is invalid.
  RunpodProvider(ProviderOptions options, ApiKey key);

  Source source() const override { return Source::cloud; }
  Outcome create(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome wake(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome pause(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome destroy(const Gpu& gpu, const std::stop_token& stop) override;
  Listing list(const std::stop_token& stop) override;
  Lookup find(const Gpu& gpu, const std::stop_token& stop) override;
  int creatable(const std::vector<Gpu>& existing) const override;
  double expected_usd_per_hour() const override;

  // Reads the catalog, unless that was done a moment ago; without it prices are not known. Asks
  // each cloud once, for ten seconds at most.
  void learn_prices(const std::stop_token& stop);
  // The worker's base URL for a pod.
  std::string url(const std::string& pod) const;

 private:
  struct Learned {
    Cooldowns cooldowns;
    Catalog catalog{};
    std::map<std::string, ApiFault> no_catalog{};  // by cloud: why the last request brought none
    std::optional<Clock::time_point> catalog_at{};
    Clock::time_point account_pause_until{};
  };
  struct CreateAttempt;

  NewPod order(const Gpu& gpu, const Candidate& candidate) const;
  Instance instance(const Pod& pod) const;
  std::vector<Candidate> ordered_candidates(const std::stop_token& stop);
  bool cooling_down(const Candidate& candidate) const;
  std::optional<double> price_for(const Candidate& candidate) const;
  bool may_ask(const Gpu& gpu, const Candidate& candidate, CreateAttempt& attempt) const;
  std::optional<Outcome> try_candidate(const Gpu& gpu, const Candidate& candidate,
                                       CreateAttempt& attempt, const std::stop_token& stop);
  Outcome no_candidate_left(const CreateAttempt& attempt);
  Outcome none_asked(const CreateAttempt& attempt, std::chrono::milliseconds wait);
  std::optional<Outcome> no_prices(const CreateAttempt& attempt);
  Outcome outcome_of(const ApiFault& fault, const std::string& what);
  Outcome after_conflict(const Gpu& gpu, bool want_running, const std::string& why,
                         const std::stop_token& stop);
  ApiResult<std::vector<std::string>> ids_of(const Gpu& gpu, const std::stop_token& stop);
  Outcome confirm_gone(const Gpu& gpu, const std::stop_token& stop);

  ProviderOptions options_;
  Api api_;
  Guarded<Learned> learned_;
};

}  // namespace navtalk::runpod
