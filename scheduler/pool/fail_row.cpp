#include "scheduler/pool/fail_row.h"

#include "core/log/log.h"
#include "scheduler/pool/update_row.h"

namespace navtalk {
namespace {

const std::string& reason(const RowFailure& failure) {
  return failure.last_error.empty() ? failure.cause.why : failure.last_error;
}

GpuChange change_of(const Gpu& row, const RowFailure& failure) {
  GpuChange change{.id = row.id,
                   .version = row.version,
                   .event = Event::fail,
                   .last_error = reason(failure),
                   .fence = failure.fence};
  if (failure.clear_intent) change.intent = cleared_intent(row);
  if (failure.costs_nothing) change.usd_per_hour = 0;
  return change;
}

void report(PoolStore& store, const Gpu& before, const RowFailure& failure) {
  log::warn("a GPU failed", {{"gpu", before.id.text}, {"error", failure.cause.why}});
  if (!failure.start || before.state != State::starting) return;
  const TimePoint now = store.now();
  store.record(Attempt{.at = now,
                       .gpu = before.id,
                       .source = before.source,
                       .operation = being_woken(before) ? Operation::wake : Operation::create,
                       .result = *failure.start,
                       .took = now - before.since,
                       .detail = reason(failure)});
}

}  // namespace

bool fail_row(PoolStore& store, const Gpu& row, const RowFailure& failure) {
  if (!store.change(change_of(row, failure), failure.cause)) return false;
  report(store, row, failure);
  return true;
}

bool fail_row(PoolStore& store, const GpuId& id, const RowFailure& failure,
              const std::function<bool(const Gpu&)>& may_fail) {
  Gpu before;
  const auto after = update_row(store, id, failure.cause, [&](const Gpu& row) {
    before = row;
    return may_fail(row) ? std::optional(change_of(row, failure)) : std::nullopt;
  });
  if (!after) return false;
  report(store, before, failure);
  return true;
}

}  // namespace navtalk
