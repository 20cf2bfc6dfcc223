// Which session holds which slot of a worker, and the fence against late gateways: a slot remembers
// the highest epoch that it has seen. Pure; one thread.
//
//   asked with           the slot                     answer
//   a lower epoch        has seen a higher one        stale: the lease was given to others
//   the same epoch       held by the same lease       opened; ends the older connection
//   a higher epoch       held                         opened; ends the older session
//   any other epoch      free                         opened
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace navtalk::server {

using SessionNumber = std::uint64_t;  // unique in one process

struct SlotRequest {
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

  SlotAnswer open(const SlotRequest& asked);
  // Does nothing for a session that was ended by a newer one.
  void close(SessionNumber session);

  const std::vector<Slot>& slots() const { return slots_; }
  int sessions() const;

 private:
  SlotAnswer take(int number, const SlotRequest& asked);

  std::vector<Slot> slots_;
  SessionNumber last_ = 0;
};

}  // namespace navtalk::server
