#include "scheduler/provision/price.h"

#include <algorithm>

namespace navtalk {

std::optional<double> known_price(const Instance& instance) {
  const bool told = instance.usd_per_hour > 0 && !instance.price_expected;
  return told ? std::optional(instance.usd_per_hour) : std::nullopt;
}

TimePoint paid_from(const Instance& found, const Gpu& row, TimePoint asked_at) {
  if (!found.age || !found.age_sure) return row.created_at;
  return std::max(row.created_at, asked_at - *found.age);
}

std::optional<TimePoint> unpaid_since(PoolStore& store, const Gpu& row) {
  if (row.usd_per_hour > 0) return std::nullopt;
  TimePoint since = row.created_at;
  for (const PaidSpan& span : store.ledger(row.created_at)) {
    if (span.gpu == row.id && span.to) since = std::max(since, *span.to);
  }
  return since;
}

std::optional<TimePoint> open_span_since(PoolStore& store, const Gpu& row) {
  for (const PaidSpan& span : store.ledger(row.created_at)) {
    if (span.gpu == row.id && !span.to) return span.from;
  }
  return std::nullopt;
}

}  // namespace navtalk
