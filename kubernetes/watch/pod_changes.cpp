#include "kubernetes/watch/pod_changes.h"

#include <utility>

namespace navtalk::kubernetes {
namespace {

// A pod that only waits says nothing: whoever created it waits for it.
std::string what_matters(const Pod& pod) {
  if (pod.terminating) return "going";
  if (pod.ended()) return pod.phase;
  if (pod.phase == "Running" && !pod.ip.empty()) return "at " + pod.ip + " " + pod.reason;
  return pod.phase == "Pending" ? "" : pod.phase + " " + pod.reason;
}

}  // namespace

bool PodChanges::listed(const std::vector<Pod>& pods) {
  std::map<std::string, std::string> now;
  for (const Pod& pod : pods) now.insert_or_assign(pod.uid, what_matters(pod));
  const bool changed = !std::exchange(first_, false) && now != seen_;
  seen_ = std::move(now);
  return changed;
}

bool PodChanges::happened(const PodEvent& event) {
  if (event.kind == PodEvent::Kind::gone) {
    seen_.erase(event.pod.uid);
    return true;
  }
  if (event.kind != PodEvent::Kind::is) return false;
  std::string& known = seen_[event.pod.uid];
  std::string now = what_matters(event.pod);
  const bool changed = now != known;
  known = std::move(now);
  return changed;
}

}  // namespace navtalk::kubernetes
