// The provider's work on pods that exist: wake, pause, destroy, list, find.
#include <algorithm>

#include "core/log/log.h"
#include "runpod/instance_status.h"
#include "runpod/runpod_provider.h"

namespace navtalk::runpod {
namespace {

using Kind = ApiFault::Kind;

bool lives(const Pod& pod) { return pod.status != PodStatus::terminated; }

bool on_its_way(PodStatus status) {
  return status == PodStatus::running || status == PodStatus::starting ||
         status == PodStatus::provisioning;
}

// Faults that say nothing of the pod.
bool says_nothing(Kind kind) {
  return kind == Kind::unreachable || kind == Kind::rate_limited || kind == Kind::unknown ||
         kind == Kind::malformed || kind == Kind::stopped;
}

}  // namespace

Outcome RunpodProvider::wake(const Gpu& gpu, const std::stop_token& stop) {
  if (gpu.provider_id.empty()) return Failure{"waking " + gpu.name + ": it has no pod"};
  const ApiResult<Pod> result = api_.start(gpu.provider_id, stop);
  if (const auto* pod = std::get_if<Pod>(&result)) return Done{instance(*pod)};
  const auto& fault = std::get<ApiFault>(result);
  const std::string message = "waking " + gpu.name + " at Runpod: " + fault.message;
  // A stopped pod is tied to its host, and the host's GPUs may be let to others by now.
  if (says_resume_impossible(fault.message)) return Failure{message};
  if (fault.kind == Kind::conflict) return after_conflict(gpu, true, message, stop);
  if (fault.kind == Kind::not_found || fault.kind == Kind::rejected) return Failure{message};
  if (says_nothing(fault.kind)) return UnknownOutcome{message};
  return outcome_of(fault, "waking " + gpu.name);
}

Outcome RunpodProvider::pause(const Gpu& gpu, const std::stop_token& stop) {
  if (gpu.provider_id.empty()) return Failure{"pausing " + gpu.name + ": it has no pod"};
  const ApiResult<Pod> result = api_.stop_pod(gpu.provider_id, stop);
  if (const auto* pod = std::get_if<Pod>(&result)) return Done{instance(*pod)};
  const auto& fault = std::get<ApiFault>(result);
  const std::string message = "pausing " + gpu.name + " at Runpod: " + fault.message;
  if (fault.kind == Kind::conflict) return after_conflict(gpu, false, message, stop);
  if (fault.kind == Kind::not_found || fault.kind == Kind::rejected) return Failure{message};
  if (says_nothing(fault.kind)) return UnknownOutcome{message};
  return outcome_of(fault, "pausing " + gpu.name);
}

// A conflict usually means "it is already there": look.
Outcome RunpodProvider::after_conflict(const Gpu& gpu, bool want_running, const std::string& why,
                                       const std::stop_token& stop) {
  const ApiResult<Pod> now = api_.pod(gpu.provider_id, stop);
  if (const auto* fault = std::get_if<ApiFault>(&now)) {
    if (fault->kind == Kind::not_found) return Failure{why + "; it is gone"};
    return says_nothing(fault->kind) ? Outcome(UnknownOutcome{why}) : outcome_of(*fault, why);
  }
  const auto& pod = std::get<Pod>(now);
  const bool there = want_running ? on_its_way(pod.status) : pod.status == PodStatus::exited;
  if (there) return Done{instance(pod)};
  return Failure{why + "; it is " + pod.status_word + (pod.locked ? " and locked" : "")};
}

// The pods that the row stands for. Without an id the create's answer was lost, and whatever
// carries the row's unique name is ours.
ApiResult<std::vector<std::string>> RunpodProvider::ids_of(const Gpu& gpu,
                                                           const std::stop_token& stop) {
  if (!gpu.provider_id.empty()) return std::vector{gpu.provider_id};
  const PodList all = api_.list(stop);
  if (all.fault) return *all.fault;
  std::vector<std::string> ids;
  for (const Pod& pod : all.pods) {
    if (pod.name == gpu.name && lives(pod)) ids.push_back(pod.id);
  }
  return ids;
}

Outcome RunpodProvider::destroy(const Gpu& gpu, const std::stop_token& stop) {
  const std::string what = "destroying " + gpu.name;
  const auto refused = [&](const ApiFault& fault) {
    const std::string message = what + " at Runpod: " + fault.message;
    if (says_nothing(fault.kind)) return Outcome(UnknownOutcome{message});
    if (fault.kind == Kind::conflict) return Outcome(Failure{message});
    return outcome_of(fault, what);
  };
  const auto ids = ids_of(gpu, stop);
  if (const auto* fault = std::get_if<ApiFault>(&ids)) return refused(*fault);
  bool known = false;
  for (const std::string& id : std::get<std::vector<std::string>>(ids)) {
    const ApiResult<Nothing> result = api_.remove(id, stop);
    const auto* const fault = std::get_if<ApiFault>(&result);
    if (fault == nullptr) {
      known = true;
    } else if (fault->kind != Kind::not_found) {
      return refused(*fault);
    }
  }
  return known ? Outcome(Done{}) : confirm_gone(gpu, stop);
}

// Runpod does not know the pod; nor do its lists?
Outcome RunpodProvider::confirm_gone(const Gpu& gpu, const std::stop_token& stop) {
  const PodList all = api_.list(stop);
  if (all.fault) {
    return UnknownOutcome{
        gpu.name + " is not known at Runpod, but the list did not come: " + all.fault->message};
  }
  const bool listed = std::any_of(all.pods.begin(), all.pods.end(), [&](const Pod& pod) {
    return lives(pod) && (pod.id == gpu.provider_id || pod.name == gpu.name);
  });
  if (listed) return UnknownOutcome{gpu.name + " is not known at Runpod, and yet listed"};
  return Done{.unknown = true};
}

// All pods of the account. A name may be changed, here or there, and tells nobody that a pod is
// gone: whose they are, the reconciler knows.
Listing RunpodProvider::list(const std::stop_token& stop) {
  const PodList all = api_.list(stop);
  Listing listing{.complete = !all.fault};
  if (all.fault) {
    listing.message = all.fault->message;
    log::warn("the list of pods did not come whole", {{"why", listing.message}});
  }
  for (const Pod& pod : all.pods) listing.instances.push_back(instance(pod));
  return listing;
}

// Only Runpod's 404 for this very id, or its word that the pod is terminated, says that there is none.
Lookup RunpodProvider::find(const Gpu& gpu, const std::stop_token& stop) {
  const ApiResult<Pod> result = api_.look_up(gpu.provider_id, stop);
  if (const auto* fault = std::get_if<ApiFault>(&result)) {
    if (fault->kind == Kind::not_found) return NotFound{};
    return NoAnswer{"Runpod did not say whether " + gpu.provider_id + " exists: " + fault->message};
  }
  const auto& pod = std::get<Pod>(result);
  if (pod.id != gpu.provider_id)
    return NoAnswer{"Runpod was asked for " + gpu.provider_id + " and showed another pod"};
  if (!lives(pod)) return NotFound{};
  return instance(pod);
}

int RunpodProvider::creatable(const std::vector<Gpu>& existing) const {
  if (!options_.creates) return 0;
  const auto mine = std::count_if(existing.begin(), existing.end(),
                                  [](const Gpu& gpu) { return gpu.source == Source::cloud; });
  if (mine >= options_.max_pods || api_.quota_wait() > options_.api.retry.patience) return 0;
  return learned_.with([&](const Learned& learned) {
    const Clock::time_point now = Clock::now();
    if (now < learned.account_pause_until) return 0;
    const auto all = candidates(options_.preferences, learned.catalog);
    if (learned.cooldowns.wait(all, now).count() > 0) return 0;
    return options_.max_pods - static_cast<int>(mine);
  });
}

double RunpodProvider::expected_usd_per_hour() const {
  const std::vector<Candidate> all = learned_.with(
      [&](const Learned& learned) { return candidates(options_.preferences, learned.catalog); });
  for (const Candidate& candidate : all) {
    if (cooling_down(candidate)) continue;
    if (const auto usd = price_for(candidate)) return *usd;
  }
  return options_.fallback_usd_per_hour;
}

}  // namespace navtalk::runpod
