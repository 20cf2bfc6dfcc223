#include "runpod/audit.h"

#include <algorithm>
#include <map>

namespace navtalk::runpod {
namespace {

constexpr double k_cent = 0.01;  // bills are rounded

double hours_within(const PaidSpan& span, TimePoint from, TimePoint to) {
  const TimePoint begin = std::max(span.from, from), end = std::min(span.to.value_or(to), to);
  return end <= begin ? 0 : in_seconds(end - begin) / 3600;
}

std::vector<AuditRow> rows_of(const std::vector<PaidSpan>& ledger, TimePoint from, TimePoint to) {
  std::vector<AuditRow> rows;
  std::map<std::string, std::size_t> places;
  for (const PaidSpan& span : ledger) {
    const double hours = hours_within(span, from, to);
    const auto [place, fresh] = places.try_emplace(span.provider_id, rows.size());
    if (fresh) rows.push_back({.pod = span.provider_id});
    rows.at(place->second).recorded_h += hours;
    rows.at(place->second).recorded_usd += hours * span.usd_per_hour;
  }
  return rows;
}

}  // namespace

Audit audit(const std::vector<PaidSpan>& ledger, const std::vector<PodBill>& bills, TimePoint from,
            TimePoint to, double tolerance) {
  std::map<std::string, double> billed;
  for (const PodBill& bill : bills) billed[bill.pod] += bill.usd;
  Audit result{.rows = rows_of(ledger, from, to)};
  for (AuditRow& row : result.rows) {
    result.recorded_usd += row.recorded_usd;
    const auto bill = billed.find(row.pod);
    if (bill == billed.end()) continue;
    row.billed_usd = bill->second;
    result.billed_usd += bill->second;
    if (bill->second > row.recorded_usd * (1 + tolerance) + k_cent) {
      result.underrecorded.push_back(row.pod);
    }
    billed.erase(bill);
  }
  for (const auto& [pod, usd] : billed) result.unrecorded.push_back({pod, usd});
  return result;
}

}  // namespace navtalk::runpod
