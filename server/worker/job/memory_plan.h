// How much memory the renderers of one kind may have: each one's peak is reserved before it gets a job, so that the
// machine stays below k_fullest whatever they do next. Those with nets of their own and those whose faces the worker draws
// are two kinds. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "core/process/memory.h"

namespace navtalk::server {

class MemoryPlan {
 public:
  static constexpr double k_fullest = 0.95;  // of the machine, or of its control group
  // `first_peak`: bytes that a renderer needs, while none has ended a job.
  explicit MemoryPlan(std::uint64_t first_peak) : first_peak_(first_peak) {}

  // A job ended well, and its renderer had so much at most. The largest of the last jobs counts.
  void learn(std::uint64_t peak) {
    peaks_.push_back(peak);
    if (peaks_.size() > k_remembered) peaks_.pop_front();
  }
  // What is reserved for a renderer.
  std::uint64_t peak() const {
    return peaks_.empty() ? first_peak_ : *std::ranges::max_element(peaks_);
  }
  // What one that has so much now (0: it is to be started) may still take, in bytes.
  std::uint64_t missing(std::uint64_t resident) const {
    return peak() - std::min(peak(), resident);
  }
  // Whether all renderers may take so many bytes more, of all kinds, with the one that is to get a job.
  static bool fits(const MemoryRoom& room, std::uint64_t missing) {
    return room.used + missing <= fullest(room);
  }
  // Why a renderer that has so much is to be ended; nullopt: it is not.
  std::optional<std::string> excess(const std::optional<MemoryRoom>& room,
                                    std::uint64_t resident) const {
    if (room && room->used > fullest(*room) && resident > peak())
      return "memory: the job has " + mib(resident) + " where others needed " + mib(peak()) +
             ", and the machine has no more";
    return std::nullopt;
  }

 private:
  static constexpr std::size_t k_remembered = 20;  // jobs

  static std::uint64_t fullest(const MemoryRoom& room) {
    return static_cast<std::uint64_t>(static_cast<double>(room.total) * k_fullest);
  }
  static std::string mib(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

  const std::uint64_t first_peak_;
  std::deque<std::uint64_t> peaks_{};
};

}  // namespace navtalk::server
