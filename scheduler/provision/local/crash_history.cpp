#include "scheduler/provision/local/crash_history.h"

#include <algorithm>

namespace navtalk::local {

void CrashHistory::crashed(const std::string& device, TimePoint started, TimePoint ended,
                           std::string how) {
  Record& record = records_[device];
  record.crashes = ended - started >= k_sound_run ? 1 : record.crashes + 1;
  record.last = ended;
  record.how = std::move(how);
}

std::optional<CrashHistory::Rest> CrashHistory::rest(const std::string& device,
                                                     TimePoint now) const {
  const auto found = records_.find(device);
  if (found == records_.end()) return std::nullopt;
  const Record& record = found->second;
  Duration rest = k_first_rest;
  for (int i = 1; i < record.crashes && rest < k_longest_rest; ++i) rest *= 2;
  const TimePoint until = record.last + std::min(rest, k_longest_rest);
  if (now >= until) return std::nullopt;
  return Rest{.left = until - now, .crashes = record.crashes, .last = record.how};
}

}  // namespace navtalk::local
