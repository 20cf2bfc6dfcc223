// What was last said of each pod, and whether something new of it matters to the pool: that it is gone or
// going, that it ended, that its node is lost, that it runs and where. Marks and other words do not. One
// owner, one thread at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kubernetes/api/messages.h"

namespace navtalk::kubernetes {

class PodChanges {
 public:
  // Every pod of the pool, as a complete list has them. The first list tells nothing new.
  bool listed(const std::vector<Pod>& pods);
  // An event about one pod.
  bool happened(const PodEvent& event);

 private:
  bool first_ = true;
  std::map<std::string, std::string> seen_{};  // uid to what matters of it
};

}  // namespace navtalk::kubernetes
