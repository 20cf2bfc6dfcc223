// Which session holds which slot of a worker, and the fence against late gateways: a slot remembers
// the highest epoch that it has seen. Pure; one thread.
//
//   lease, epoch ──► lower than the slot's epoch ──────────► stale    (the lease was given to
//   others)
//                    same epoch, same lease, slot held ────► opened, ends the older connection
//                    higher epoch, slot held ──────────────► opened, ends the older session
//                    slot free ────────────────────────────► opened
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace navtalk::server {

using SessionNumber = std::uint64_t;  // unique in one process

struct SlotAsked {
  std::string lease{};
  std::uint64_t epoch = 0;
  std::optional<int> slot{};  // missing: one that the lease holds, else a free one
};

struct SlotAnswer {
  enum class Verdict { opened, stale, full, no_such_slot } verdict = Verdict::opened;
  int slot = 0;
  SessionNumber session = 0;             // opened: the new one
  std::optional<SessionNumber> ended{};  // opened: the one that must go
  std::uint64_t seen = 0;                // stale: the epoch that stands against it
};

struct Slot {
  std::string lease{};  // the last one
  std::uint64_t epoch = 0;
  std::optional<SessionNumber> session{};  // who holds it
};

class SlotTable {
 public:
  explicit SlotTable(int slots);

  SlotAnswer open(const SlotAsked& asked);
  // Does nothing for a session that was ended by a newer one.
  void close(SessionNumber session);

  const std::vector<Slot>& slots() const { return slots_; }
  int sessions() const;

 private:
  SlotAnswer take(int number, const SlotAsked& asked);

  std::vector<Slot> slots_;
  SessionNumber last_ = 0;
};

}  // namespace navtalk::server
