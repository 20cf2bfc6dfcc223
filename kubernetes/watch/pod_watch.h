// Follows a pool's pods as the API server tells their changes, so that what happens to one is looked at
// when it happens. A signal only: whoever hears it lists, and lists now and then in any case.
//
//   list ──► watch from the list's version ──► events and bookmarks move the version on
//    ▲          │ stream ends or is cut: the same again from the last version, after a growing wait
//    └──────────┘ 410 Gone, or words that cannot be read: list again
//
// A thread of its own, from construction to destruction. Thread-safe.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "kubernetes/api/api.h"
#include "kubernetes/watch/pod_changes.h"

namespace navtalk::kubernetes {

class PodWatch {
 public:
  PodWatch(Cluster cluster, ApiTimes times, std::string pool_id);
  // Ends the stream, within a second.
  ~PodWatch() = default;
  PodWatch(const PodWatch&) = delete;
  PodWatch& operator=(const PodWatch&) = delete;

  // Has something happened since the last call of this?
  bool take_changed() { return changed_.exchange(false); }

 private:
  void run(const std::stop_token& stop);
  std::optional<ApiFault> step(const std::stop_token& stop);
  bool take_line(const std::string& line, std::optional<ApiFault>& fault);
  void note(bool changed);
  void tell(const ApiFault& fault);

  Api api_;
  const std::string pool_id_;
  PodChanges changes_{};
  std::string version_{};  // the last one that was heard of; empty: list first
  int failures_ = 0;       // in a row, without an event in between
  bool refused_told_ = false;
  std::atomic<bool> changed_{false};
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace navtalk::kubernetes
