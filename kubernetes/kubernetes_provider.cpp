#include "kubernetes/kubernetes_provider.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/sleep.h"
#include "core/log/log.h"
#include "core/net/url.h"
#include "kubernetes/pod_id.h"

namespace navtalk::kubernetes {
namespace {

using std::chrono::milliseconds;
using Kind = ApiFault::Kind;

constexpr milliseconds k_again{5'000};         // after "no capacity", at the earliest
constexpr milliseconds k_marks_pause{10'000};  // after a mark that the server refused

std::string with(std::string text, std::string_view mark, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size()) {
    text.replace(at, mark.size(), value);
  }
  return text;
}

Instance::Status status_of(const Pod& pod) {
  if (pod.terminating) return Instance::Status::gone;
  if (pod.ended()) return Instance::Status::failed;
  if (pod.phase == "Running") return Instance::Status::running;
  if (pod.phase == "Pending") return Instance::Status::starting;
  return Instance::Status::unknown;
}

}  // namespace

KubernetesProvider::KubernetesProvider(ProviderOptions options)
    : options_(std::move(options)), api_(options_.cluster, options_.times) {
  if (options_.creates && options_.pod.image.empty())
    throw Error(Code::invalid, "kubernetes.image is not set");
  parse_http_url(url(Pod{.name = "pod", .ip = "127.0.0.1"}));
}

std::string KubernetesProvider::url(const Pod& pod) const {
  const std::string ip = pod.ip.find(':') == std::string::npos ? pod.ip : "[" + pod.ip + "]";
  std::string text = with(options_.worker_url, "{port}", std::to_string(options_.port));
  text = with(with(std::move(text), "{pod}", pod.name), "{namespace}", options_.cluster.name_space);
  return with(std::move(text), "{ip}", ip);
}

// A pod keeps the node that it once has.
void KubernetesProvider::saw(const Pod& pod) {
  marks_.with([&](EvictionMarks& marks) { marks.saw(pod); });
  if (pod.node.empty()) return;
  nodes_.with([&](auto& nodes) { nodes.insert_or_assign(pod.uid, pod.node); });
}

std::string KubernetesProvider::order(const Gpu& gpu,
                                      const std::optional<OwnerReference>& owner) const {
  NewPod pod{.name = object_name(gpu.name),
             .owner = owner,
             .row = gpu.name,
             .gpu_id = gpu.id.text,
             .pool_id = options_.pool_id,
             .port = options_.port};
  pod.args = {"serve",
              "--worker",
              "--listen",
              "0.0.0.0:" + std::to_string(options_.port),
              "--slots",
              std::to_string(gpu.slots),
              "--gateway-silence-s",
              std::to_string(options_.idle_shutdown.count())};
  pod.env["NAVTALK_WORKER_TOKEN"] = options_.worker_tokens.of_worker(gpu.name);
  return manifest(options_.pod, pod);
}

Instance KubernetesProvider::instance(const Pod& pod) const {
  Instance result{.provider_id = text_of_id({api_.name_space(), pod.name, pod.uid}),
                  .name = pod.row.empty() ? pod.name : pod.row,
                  .status = status_of(pod)};
  if (!pod.ip.empty()) result.url = url(pod);
  result.device = options_.pod.gpu_resource;
  result.usd_per_hour = options_.usd_per_hour;
  result.detail = pod.phase;
  for (const std::string& part : {pod.reason, pod.node}) {
    if (!part.empty()) result.detail += " " + part;
  }
  if (pod.created_at) {
    const auto age = std::chrono::system_clock::now() - *pod.created_at;
    result.age = std::max(Duration{}, std::chrono::duration_cast<Duration>(age));
  }
  return result;
}

Outcome KubernetesProvider::create(const Gpu& gpu, const std::stop_token& stop) {
  if (!options_.creates) return Refused{"the cloud is switched off, or not configured", false};
  const auto paused = account_pause_until_.with([](Clock::time_point until) {
    return std::chrono::ceil<milliseconds>(until - Clock::now());
  });
  if (paused.count() > 0)
    return NoCapacity{"Kubernetes refused a moment ago; creation is paused", paused};
  if (options_.reserve && !options_.reserve(gpu, options_.usd_per_hour))
    return NoCapacity{"pool.max_usd_per_hour leaves nothing for another pod", k_again};
  std::optional<OwnerReference> owner;
  if (options_.owner) {
    // Every time: Kubernetes removes a pod whose owner was made anew under its name.
    const ApiResult<OwnerReference> found = api_.reference(*options_.owner, stop);
    if (const auto* fault = std::get_if<ApiFault>(&found)) return without_owner(*fault);
    owner = std::get<OwnerReference>(found);
  }
  const ApiResult<Pod> made = api_.create(order(gpu, owner), stop);
  if (const auto* pod = std::get_if<Pod>(&made)) return await_node(*pod, stop);
  const auto& fault = std::get<ApiFault>(made);
  if (fault.kind == Kind::conflict) return adopt_existing(gpu, fault, stop);
  return outcome_of(fault, "creating " + gpu.name);
}

// Nothing was asked for yet.
Outcome KubernetesProvider::without_owner(const ApiFault& fault) {
  const std::string what = "looking up " + options_.owner->kind + "/" + options_.owner->name +
                           ", which kubernetes.owner names";
  if (fault.kind == Kind::not_found || !fault.says_nothing()) return outcome_of(fault, what);
  return NoCapacity{what + ": " + fault.message, k_again};
}

// Its name is taken: by the pod of an earlier call whose answer was lost, or by somebody else's.
Outcome KubernetesProvider::adopt_existing(const Gpu& gpu, const ApiFault& why,
                                           const std::stop_token& stop) {
  const std::string what = "creating " + gpu.name + " at Kubernetes: " + why.message;
  const ApiResult<Pod> found = api_.pod(object_name(gpu.name), stop);
  if (const auto* fault = std::get_if<ApiFault>(&found))
    return UnknownOutcome{what + "; then: " + fault->message};
  const auto& pod = std::get<Pod>(found);
  if (pod.pool_id != options_.pool_id || pod.row != gpu.name)
    return Refused{.message = what + "; that pod is not of this pool"};
  if (pod.terminating) return UnknownOutcome{what + "; that pod is being deleted"};
  return await_node(pod, stop);
}

// Where the wait is cut short the pod is there all the same: the row has its id, and a deadline.
Outcome KubernetesProvider::await_node(Pod pod, const std::stop_token& stop) {
  saw(pod);
  const Clock::time_point until = Clock::now() + options_.schedule;
  while (pod.node.empty() && !pod.ended() && !pod.terminating) {
    if (Clock::now() >= until) return pod.unschedulable ? give_up(pod, stop) : Done{instance(pod)};
    if (!sleep_for(options_.look_again, stop)) break;
    const ApiResult<Pod> now = api_.pod(pod.name, stop);
    if (const auto* next = std::get_if<Pod>(&now)) {
      if (next->uid != pod.uid) return Failure{pod.name + " was replaced by another pod"};
      pod = *next;
      saw(pod);
    } else if (std::get<ApiFault>(now).kind == Kind::not_found) {
      return Failure{pod.name + " was deleted before it had a node"};
    }
  }
  return Done{instance(pod)};
}

// Only as it was seen: a pod that got a node meanwhile stays. One that merely changed, such as by another
// report of the scheduler, is looked at again.
Outcome KubernetesProvider::give_up(Pod pod, const std::stop_token& stop) {
  constexpr int k_tries = 5;
  const NoCapacity no_room{"no node of the cluster has room for " + pod.name, k_again};
  for (int tries = 0; tries < k_tries && pod.unschedulable; ++tries) {
    const ApiResult<Nothing> removed = api_.remove(pod.name, {pod.uid, pod.version}, true, stop);
    const auto* fault = std::get_if<ApiFault>(&removed);
    if (fault == nullptr || fault->kind == Kind::not_found) return no_room;
    // The next list finds it by its labels.
    if (fault->kind != Kind::conflict)
      return UnknownOutcome{"giving up " + pod.name + ": " + fault->message};
    const ApiResult<Pod> now = api_.pod(pod.name, stop);
    if (const auto* gone = std::get_if<ApiFault>(&now)) {
      if (gone->kind == Kind::not_found) return no_room;
      return UnknownOutcome{"giving up " + pod.name + ": " + gone->message};
    }
    const Pod& next = std::get<Pod>(now);
    if (next.uid != pod.uid) return Failure{pod.name + " was replaced by another pod"};
    pod = next;
    saw(pod);
  }
  return Done{instance(pod)};
}

Outcome KubernetesProvider::wake(const Gpu& gpu, const std::stop_token&) {
  return Failure{"waking " + gpu.name + ": a pod of Kubernetes does not stop and start again"};
}

Outcome KubernetesProvider::pause(const Gpu& gpu, const std::stop_token&) {
  return Refused{.message = "pausing " + gpu.name +
                            ": a pod of Kubernetes cannot be paused; remove it instead"};
}

Outcome KubernetesProvider::destroy(const Gpu& gpu, const std::stop_token& stop) {
  const std::string what = "destroying " + gpu.name;
  Precondition required;
  std::string name = object_name(gpu.name);
  if (!gpu.provider_id.empty()) {
    const auto id = parse_pod_id(gpu.provider_id);
    if (!id || id->name_space != api_.name_space())
      return Failure{what + ": " + gpu.provider_id + " is not in the namespace " +
                     api_.name_space()};
    name = id->name;
    required.uid = id->uid;
  } else {
    // The create's answer was lost. A pod of that name may be somebody else's.
    const ApiResult<Pod> found = api_.pod(name, stop);
    if (const auto* pod = std::get_if<Pod>(&found)) {
      if (pod->pool_id != options_.pool_id) return Done{.unknown = true};
      required.uid = pod->uid;
    } else if (std::get<ApiFault>(found).kind == Kind::not_found) {
      return Done{.unknown = true};
    } else {
      return UnknownOutcome{what + " at Kubernetes: " + std::get<ApiFault>(found).message};
    }
  }
  const ApiResult<Nothing> removed = api_.remove(name, required, false, stop);
  const auto* fault = std::get_if<ApiFault>(&removed);
  if (fault == nullptr) return Done{};
  // Another pod has its name by now: this one is gone.
  if (fault->kind == Kind::not_found || fault->kind == Kind::conflict) return Done{.unknown = true};
  if (fault->says_nothing()) return UnknownOutcome{what + " at Kubernetes: " + fault->message};
  return outcome_of(*fault, what);
}

Listing KubernetesProvider::list(const std::stop_token& stop) {
  const PodList all = api_.list(options_.pool_id, stop);
  Listing listing{.complete = !all.fault};
  if (all.fault) listing.message = all.fault->message;
  std::map<std::string, std::string> nodes;
  for (const Pod& pod : all.pods) {
    saw(pod);
    if (!pod.node.empty()) nodes.insert_or_assign(pod.uid, pod.node);
    listing.instances.push_back(instance(pod));
  }
  if (!all.fault) nodes_.with([&](auto& known) { known = std::move(nodes); });
  return listing;
}

Lookup KubernetesProvider::find(const Gpu& gpu, const std::stop_token& stop) {
  const auto id = parse_pod_id(gpu.provider_id);
  if (!id || id->name_space != api_.name_space())
    return NoAnswer{gpu.provider_id + " is not in the namespace " + api_.name_space()};
  const ApiResult<Pod> result = api_.pod(id->name, stop);
  if (const auto* fault = std::get_if<ApiFault>(&result)) {
    if (fault->kind == Kind::not_found) return NotFound{};
    return NoAnswer{"Kubernetes did not say whether " + id->name + " exists: " + fault->message};
  }
  const auto& pod = std::get<Pod>(result);
  if (pod.uid != id->uid || pod.terminating) return NotFound{};
  return instance(pod);
}

// False: further marks would fail as well.
bool KubernetesProvider::mark(const PodId& id, bool evictable, const std::stop_token& stop) {
  const ApiResult<Pod> patched = api_.patch(id.name, evictable_patch(id.uid, evictable), stop);
  const auto* fault = std::get_if<ApiFault>(&patched);
  // A pod that is gone needs no mark; the reconciler tells its row.
  const bool gone =
      fault != nullptr && (fault->kind == Kind::not_found || fault->kind == Kind::conflict);
  if (fault == nullptr || gone) {
    marks_.with([&](EvictionMarks& marks) { marks.marked(id.uid, evictable); });
    return true;
  }
  if (fault->kind != Kind::stopped) {
    log::error(
        "a pod's mark for the autoscaler could not be changed; it may be evicted with sessions, "
        "or keep its node without",
        {{"pod", id.name}, {"error", fault->message}});
    mark_again_.with([](Clock::time_point& at) { at = Clock::now() + k_marks_pause; });
  }
  return false;
}

void KubernetesProvider::attend(const std::vector<Gpu>& gpus, const std::stop_token& stop) {
  if (mark_again_.with([](Clock::time_point at) { return Clock::now() < at; })) return;
  const auto due =
      marks_.with([&](EvictionMarks& marks) { return marks.due(gpus, api_.name_space()); });
  for (const DueMark& one : due) {
    if (stop.stop_requested() || !mark(one.pod, one.evictable, stop)) return;
  }
}

bool KubernetesProvider::changed() {
  return watch_.with([&](std::unique_ptr<PodWatch>& watch) {
    if (!watch)
      watch = std::make_unique<PodWatch>(options_.cluster, options_.times, options_.pool_id);
    return watch->take_changed();
  });
}

std::string KubernetesProvider::place(const Gpu& gpu) const {
  const auto id = parse_pod_id(gpu.provider_id);
  if (!id) return "";
  return nodes_.with([&](const auto& nodes) {
    const auto found = nodes.find(id->uid);
    return found == nodes.end() ? std::string() : found->second;
  });
}

int KubernetesProvider::creatable(const std::vector<Gpu>& existing) const {
  const bool paused =
      account_pause_until_.with([](Clock::time_point until) { return Clock::now() < until; });
  if (!options_.creates || paused) return 0;
  const auto mine = std::count_if(existing.begin(), existing.end(),
                                  [](const Gpu& gpu) { return gpu.source == Source::cloud; });
  return std::max(0, options_.max_pods - static_cast<int>(mine));
}

Outcome KubernetesProvider::outcome_of(const ApiFault& fault, const std::string& what) {
  const std::string message = what + " at Kubernetes: " + fault.message;
  switch (fault.kind) {
    case Kind::quota:
    case Kind::busy:
    case Kind::unreachable:
      return NoCapacity{message, std::max(fault.retry_after.value_or(milliseconds(0)), k_again)};
    case Kind::forbidden:
    case Kind::unprepared:
      account_pause_until_.with(
          [&](Clock::time_point& until) { until = Clock::now() + options_.account_pause; });
      log::error(fault.kind == Kind::forbidden ? "Kubernetes refuses"
                                               : "nothing can be asked of Kubernetes",
                 {{"what", message}});
      return Refused{message, true};
    case Kind::not_found:  // of a create: there is no such namespace
    case Kind::rejected:
    case Kind::conflict:
      return Refused{message, false};
    case Kind::stopped:
    case Kind::unknown:
    case Kind::malformed:
    case Kind::expired:
      break;
  }
  return UnknownOutcome{message};
}

}  // namespace navtalk::kubernetes
