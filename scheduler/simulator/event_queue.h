// The future events of a simulated pool, in the order of its virtual clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "scheduler/pool/gpu.h"

namespace navtalk {

struct WorldEvent {
  enum class Kind : std::uint8_t {
    ready,      // a GPU has started
    refused,    // the provider answered: no capacity
    call_lost,  // the provider's answer did not come
    fails,      // a start broke
    crash,
    session_end,
    patience,  // a waiting user leaves
    reconcile,
    restart,
    tick,
  };
  TimePoint at{};
  std::uint64_t order = 0;  // among equals the one that was queued first
  Kind kind = Kind::tick;
  std::uint32_t subject = 0;     // GPU's number, session's number
  std::uint32_t generation = 0;  // of the subject when it was queued: a stale event is skipped

  bool operator>(const WorldEvent& other) const {
    return std::tie(at, order) > std::tie(other.at, other.order);
  }
};
class EventQueue {
 public:
  void at(TimePoint when, WorldEvent::Kind kind, std::uint32_t subject = 0,
          std::uint32_t generation = 0) {
    heap_.push_back({when, order_++, kind, subject, generation});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  TimePoint next_at() const { return heap_.front().at; }
  WorldEvent take() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const WorldEvent first = heap_.back();
    heap_.pop_back();
    return first;
  }

 private:
  std::vector<WorldEvent> heap_{};
  std::uint64_t order_ = 0;
};

}  // namespace navtalk
