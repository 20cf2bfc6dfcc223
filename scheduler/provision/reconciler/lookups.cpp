#include "scheduler/provision/reconciler/lookups.h"

#include <algorithm>

namespace navtalk {

Lookups look_up(Provider& provider, std::vector<const Gpu*> rows, const std::string& after,
                const LookupLimits& limits, const std::stop_token& stop) {
  const auto first =
      std::find_if(rows.begin(), rows.end(), [&](const Gpu* row) { return row->name > after; });
  std::rotate(rows.begin(), first, rows.end());
  Lookups result;
  std::string last;
  bool all = true;
  int asked = 0, unanswered = 0;
  for (const Gpu* row : rows) {
    LookedUp looked{.row = row};
    if (asked < limits.ids && unanswered < limits.unanswered && !stop.stop_requested()) {
      looked.answer = provider.find(*row, stop);
      ++asked;
      unanswered += std::holds_alternative<NoAnswer>(*looked.answer) ? 1 : 0;
      last = row->name;
    } else {
      all = false;
    }
    result.rows.push_back(std::move(looked));
  }
  if (!all) result.last = last;
  return result;
}

}  // namespace navtalk
