// What sessions and jobs have reserved of a device's memory. The frames of an avatar are reserved once for all of its sessions, and
// stay for its next one while nobody else needs their room. Of the I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gpu/device/memory_budget.h"
#include "server/worker/engine.h"

namespace navtalk::server {

class DeviceRoom {
 public:
  // Without a budget nothing is reserved, and everything fits.
  explicit DeviceRoom(std::optional<DeviceBudget> budget) : budget_(std::move(budget)) {}
  DeviceRoom(const DeviceRoom&) = delete;
  DeviceRoom& operator=(const DeviceRoom&) = delete;

  // One session's part, for as long as it lives. The room outlives it.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    Place(DeviceRoom& room, std::string avatar);
    void have(MemoryReservation own) { own_ = std::move(own); }

   private:
    DeviceRoom& room_;
    const std::string avatar_;
    MemoryReservation own_{};
  };
  // `shown_width`: of its pictures, in pixels; 0: the avatar's. nullptr: with this session the device might pass what may be in use.
  std::unique_ptr<Place> admit(const std::string& avatar, const AvatarSize& size,
                               int shown_width = 0);
  // For a process of a job that has nets of its own; nullopt as above.
  std::optional<MemoryReservation> admit_job();
  // What that reserves, in bytes.
  std::uint64_t of_job() const { return budget_ ? budget_->of_process() : 0; }
  // Gives up the frames that no session uses.
  void drop_frames();
  // Where memory is reserved at all.
  std::optional<MemoryLedger> ledger() const {
    return budget_ ? std::optional(budget_->memory->ledger()) : std::nullopt;
  }
  // Nothing more fits.
  bool full() const;

 private:
  struct Frames {
    std::string avatar{};
    MemoryReservation bytes{};
    int sessions = 0;
  };

  bool reserve_frames(const std::string& avatar, std::uint64_t bytes);
  // Gives up what nobody uses until it fits; nullopt: it does not.
  std::optional<MemoryReservation> reserve(MemoryUser user, std::uint64_t bytes);
  bool drop_unused();
  std::uint64_t frames_bytes() const;
  void tell_frames() const;
  std::list<Frames>::iterator find(const std::string& avatar);

  const std::optional<DeviceBudget> budget_;
  std::list<Frames> frames_{};  // the avatar that was asked for longest ago first
};

}  // namespace navtalk::server
