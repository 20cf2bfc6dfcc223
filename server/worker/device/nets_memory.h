// What the nets of a worker take of their device, measured as they are loaded and warmed up, and reserved. Thread-safe; begin(),
// loaded(), draw() and unloaded() are called one after the other.
//
//   begin() ── the nets are loaded ──► loaded() ── draw(1), draw(2), draw(4), draw(8) ──► ... ──► unloaded()
//                                       "nets"       "batches": the largest peak
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/guarded.h"
#include "gpu/device/memory_budget.h"

namespace navtalk::server {

// What the device tells; a test gives functions of its own.
struct DeviceMeter {
  std::function<DeviceMemory()> now{};
  std::function<std::uint64_t()>
      most{};                       // bytes that this process' nets had at once, since `restart`
  std::function<void()> restart{};  // gives back what nothing uses, and forgets the most
};

class NetsMemory {
 public:
  NetsMemory(DeviceMeter meter, std::shared_ptr<MemoryBudget> budget)
      : meter_(std::move(meter)), budget_(std::move(budget)) {}

  void begin();
  // OutOfMemory: with them the device is fuller than it may be.
  void loaded();
  // Runs `work`, which draws so many faces. OutOfMemory where its peak does not fit beside the nets.
  void draw(std::size_t faces, const std::function<void()>& work);
  void unloaded();

  // For the frames of all avatars: a quarter of what nets and batches left free.
  std::uint64_t frames_limit() const { return figures().frames_limit; }
  // What another process with these nets takes at its peak, as they did here; zero before they were drawn with.
  std::uint64_t of_process() const { return figures().of_process; }

 private:
  struct Figures {
    std::uint64_t frames_limit = 0, of_process = 0;  // bytes
  };

  Figures figures() const {
    return figures_.with([](const Figures& all) { return all; });
  }

  const DeviceMeter meter_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::uint64_t before_ = 0;  // in use, by all programs
  std::vector<MemoryReservation>
      reservations_{};         // of the nets; then what each larger batch took more
  std::uint64_t batches_ = 0;  // bytes
  Guarded<Figures> figures_;
};

}  // namespace navtalk::server
