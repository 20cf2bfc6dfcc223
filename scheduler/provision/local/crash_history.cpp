#include "scheduler/provision/local/crash_history.h"

#include <algorithm>

namespace navtalk::local {

void CrashHistory::crashed(const std::string& device, TimePoint started, TimePoint ended,
                           std::string how) {
  Record& record = records_[device];
  record.crashes = ended - started >= k_stable_run ? 1 : record.crashes + 1;
  record.last = ended;
  record.how = std::move(how);
}

std::optional<CrashHistory::Backoff> CrashHistory::backoff(const std::string& device,
                                                           TimePoint now) const {
  const auto found = records_.find(device);
  if (found == records_.end()) return std::nullopt;
  const Record& record = found->second;
  Duration backoff = k_first_backoff;
  for (int i = 1; i < record.crashes && backoff < k_longest_backoff; ++i) backoff *= 2;
  const TimePoint until = record.last + std::min(backoff, k_longest_backoff);
  if (now >= until) return std::nullopt;
  return Backoff{.left = until - now, .crashes = record.crashes, .last = record.how};
}

}  // namespace navtalk::local
