// What will happen in a simulated pool, in the order of its virtual clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "scheduler/pool/gpu.h"

namespace navtalk {

struct Happening {
  enum class Kind : std::uint8_t {
    ready,      // a GPU has started
    refused,    // the provider answered: no capacity
    call_lost,  // the provider's answer did not come
    fails,      // a start broke
    crash,
    session_end,
    patience,  // a waiting user has had enough
    reconcile,
    restart,
    tick,
  };
  TimePoint at{};
  std::uint64_t order = 0;  // among equals the one that was written first
  Kind kind = Kind::tick;
  std::uint32_t subject = 0;  // GPU's number, session's number
  std::uint32_t turn = 0;     // of the subject when it was written: what is stale is passed over

  bool operator>(const Happening& other) const {
    return std::tie(at, order) > std::tie(other.at, other.order);
  }
};
class Happenings {
 public:
  void at(TimePoint when, Happening::Kind kind, std::uint32_t subject = 0, std::uint32_t turn = 0) {
    heap_.push_back({when, order_++, kind, subject, turn});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  TimePoint next_at() const { return heap_.front().at; }
  Happening take() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Happening first = heap_.back();
    heap_.pop_back();
    return first;
  }

 private:
  std::vector<Happening> heap_{};
  std::uint64_t order_ = 0;
};

}  // namespace navtalk
