// Which pods say what about their eviction, and which must say something else: those with sessions are
// not to be evicted, all others are, so that no idle pod keeps a node. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kubernetes/api/messages.h"
#include "kubernetes/pod_id.h"
#include "scheduler/pool/gpu.h"

namespace navtalk::kubernetes {

struct DueMark {
  PodId pod;
  bool evictable = false;
};

class EvictionMarks {
 public:
  // What the server says of a pod; one that says nothing is marked anew.
  void saw(const Pod& pod);
  void marked(const std::string& uid, bool evictable) { known_[uid] = evictable; }
  // The pods of `name_space` whose mark is not what their row asks for, sessions first. Forgets the
  // pods that no row has.
  std::vector<DueMark> due(const std::vector<Gpu>& gpus, const std::string& name_space);

 private:
  std::map<std::string, bool> known_{};  // by uid
};

}  // namespace navtalk::kubernetes
