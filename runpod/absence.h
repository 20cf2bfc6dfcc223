// When is a thing that is not listed really gone? A pod that was just created may be missing from
// lists, and deleting it may answer 404, so one look proves nothing. Pure; one owner.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "runpod/rate_limit.h"

namespace navtalk::runpod {

class Absence {
 public:
  explicit Absence(std::chrono::milliseconds grace) : grace_(grace) {}

  // A complete list lacked it. True once it has been missing from every look for the grace, two
  // looks at least.
  bool confirmed(const std::string& key, Clock::time_point now) {
    const auto [first, fresh] = missing_since_.try_emplace(key, now);
    return !fresh && now - first->second >= grace_;
  }
  void seen(const std::string& key) { missing_since_.erase(key); }

 private:
  std::chrono::milliseconds grace_;
  std::map<std::string, Clock::time_point> missing_since_;
};

}  // namespace navtalk::runpod
