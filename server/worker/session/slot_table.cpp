#include "server/worker/session/slot_table.h"

#include <algorithm>

#include "core/base/check.h"

namespace navtalk::server {

SlotTable::SlotTable(int slots) : slots_(static_cast<std::size_t>(slots)) {
  NAVTALK_CHECK(slots > 0);
}

SlotAnswer SlotTable::open(const SlotRequest& asked) {
  using Verdict = SlotAnswer::Verdict;
  const int count = static_cast<int>(slots_.size());
  if (asked.slot) {
    if (*asked.slot < 0 || *asked.slot >= count) return {.verdict = Verdict::no_such_slot};
    return take(*asked.slot, asked);
  }
  if (count == 1) return take(0, asked);
  for (int i = 0; i < count; ++i) {
    if (slots_[static_cast<std::size_t>(i)].lease == asked.lease) return take(i, asked);
  }
  // A lease that still stands finds at least its own slot without a higher epoch.
  SlotAnswer answer{.verdict = Verdict::full};
  for (int i = 0; i < count; ++i) {
    if (slots_[static_cast<std::size_t>(i)].session) continue;
    answer = take(i, asked);
    if (answer.verdict == Verdict::opened) break;
  }
  return answer;
}

SlotAnswer SlotTable::take(int number, const SlotRequest& asked) {
  Slot& slot = slots_[static_cast<std::size_t>(number)];
  const bool same_epoch_of_another =
      asked.epoch == slot.epoch && asked.lease != slot.lease && !slot.lease.empty();
  if (asked.epoch < slot.epoch || same_epoch_of_another)
    return {.verdict = SlotAnswer::Verdict::stale, .slot = number, .seen = slot.epoch};
  const std::optional<SessionNumber> ended = slot.session;
  slot = {.lease = asked.lease, .epoch = asked.epoch, .session = ++last_};
  return {.slot = number, .session = last_, .ended = ended};
}

void SlotTable::close(SessionNumber session) {
  for (Slot& slot : slots_) {
    if (slot.session == session) slot.session.reset();
  }
}

int SlotTable::sessions() const {
  return static_cast<int>(std::count_if(slots_.begin(), slots_.end(),
                                        [](const Slot& slot) { return slot.session.has_value(); }));
}

}  // namespace navtalk::server
