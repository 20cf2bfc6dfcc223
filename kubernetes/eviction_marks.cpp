#include "kubernetes/eviction_marks.h"

#include <algorithm>
#include <set>

namespace navtalk::kubernetes {

void EvictionMarks::saw(const Pod& pod) {
  if (pod.evictable) {
    known_[pod.uid] = *pod.evictable;
  } else {
    known_.erase(pod.uid);
  }
}

std::vector<DueMark> EvictionMarks::due(const std::vector<Gpu>& gpus,
                                        const std::string& name_space) {
  std::vector<DueMark> found;
  std::set<std::string> rows;
  for (const Gpu& gpu : gpus) {
    const auto id = parse_pod_id(gpu.provider_id);
    if (gpu.source != Source::cloud || !id || id->name_space != name_space) continue;
    rows.insert(id->uid);
    const bool evictable = gpu.sessions == 0;
    const auto known = known_.find(id->uid);
    if (known == known_.end() || known->second != evictable) found.push_back({*id, evictable});
  }
  std::erase_if(known_, [&](const auto& entry) { return !rows.contains(entry.first); });
  std::stable_partition(found.begin(), found.end(),
                        [](const DueMark& mark) { return !mark.evictable; });
  return found;
}

}  // namespace navtalk::kubernetes
