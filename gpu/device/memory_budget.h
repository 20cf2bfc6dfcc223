// The memory of one device. Whoever is to use it reserves what it needs at its peak first, so that the device stays
// below k_fullest whatever they do next.
//
//   total ─┬─ 5 %: nobody's
//          ├─ other programs: as measured; renderers of jobs, which are among them, count with what they reserved, where that is more
//          └─ this process: as measured, or what it reserved, where that is more
//
// Measurements come from whoever has them (note()); reserving asks no driver and never waits for one. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/guarded.h"

namespace navtalk {

// Bytes; a total of zero: not known.
struct DeviceMemory {
  std::uint64_t total = 0;
  std::uint64_t used = 0;  // by all programs
  std::uint64_t own = 0;   // of `used`: what this process' nets have taken

  bool operator==(const DeviceMemory&) const = default;
};

// What memory is reserved for. All but jobs are of this process.
enum class MemoryUser : std::uint8_t { nets, batches, avatars, sessions, jobs };
inline constexpr std::array<MemoryUser, 5> k_memory_users = {
    MemoryUser::nets, MemoryUser::batches, MemoryUser::avatars, MemoryUser::sessions,
    MemoryUser::jobs};
std::string_view name(MemoryUser user);

struct MemoryLedger {
  DeviceMemory measured{};
  std::uint64_t others_alone = 0;  // what other programs used when no job had reserved anything
  std::array<std::uint64_t, k_memory_users.size()> reserved{};  // by user
  std::uint64_t refused = 0;                                    // reservations

  std::uint64_t of(MemoryUser user) const { return reserved[static_cast<std::size_t>(user)]; }
  std::uint64_t all_reserved() const;
  // What may be in use, with so many bytes more for that user.
  std::uint64_t committed(MemoryUser user = MemoryUser::nets, std::uint64_t more = 0) const;
  // Of the device, what may be in use at most.
  std::uint64_t limit() const;
};

// Bytes that are reserved for as long as it lives. Move-only; MemoryBudget makes them.
class MemoryReservation {
 public:
  using Ledger = std::shared_ptr<Guarded<MemoryLedger>>;

  MemoryReservation() = default;  // of nothing
  // `ledger` counts the bytes already.
  MemoryReservation(Ledger ledger, MemoryUser user, std::uint64_t bytes)
      : ledger_(std::move(ledger)), user_(user), bytes_(bytes) {}
  MemoryReservation(MemoryReservation&& other) noexcept;
  MemoryReservation& operator=(MemoryReservation&& other) noexcept;
  ~MemoryReservation();

  std::uint64_t bytes() const { return bytes_; }

 private:
  void give_back();

  Ledger ledger_{};
  MemoryUser user_ = MemoryUser::nets;
  std::uint64_t bytes_ = 0;
};

class MemoryBudget {
 public:
  static constexpr double k_fullest = 0.95;

  // What the device has now.
  void note(const DeviceMemory& measured);
  // nullopt: the device might pass k_fullest. Where nothing is known of it, everything fits.
  std::optional<MemoryReservation> reserve(MemoryUser user, std::uint64_t bytes);
  // What is left to be reserved by this process.
  std::uint64_t room() const;
  MemoryLedger ledger() const;

 private:
  MemoryReservation::Ledger ledger_ = std::make_shared<Guarded<MemoryLedger>>();
};

}  // namespace navtalk
