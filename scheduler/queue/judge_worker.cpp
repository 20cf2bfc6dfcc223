// What sessions that failed mean for their GPU: see allocator.h.
#include <algorithm>

#include "core/log/log.h"
#include "scheduler/pool/fail_row.h"
#include "scheduler/queue/allocator.h"

namespace navtalk {

void Allocator::judge(const WorkerReport& report) {
  const std::optional<Gpu> row = store_.find(report.gpu);
  if (!row || !row->serving()) return;
  if (report.answer != WorkerReport::Answer::well) return judge_unwell(*row, report);
  if (row->misses > 0) store_.seen({row->id}, store_.now());
  log::warn("a session failed at a worker that answers well",
            {{"gpu", row->id.text}, {"error", report.last_fault}});
  if (report.faults.empty()) return;
  const TimePoint now = store_.now();
  bool blamed = false;
  k_session_faults.update(store_, [&](SessionFaults& known) {
    known.forget(now - options_.faults.window);
    for (SessionFault fault : report.faults) {
      fault.at = now;
      known.add(std::move(fault));
    }
    blamed = known.blame(row->id, now, options_.faults);
  });
  if (!blamed || has_lasting_session(row->id)) return;
  fail_gpu(row->id, "session after session fails on it: " + report.last_fault);
}

void Allocator::judge_unwell(const Gpu& row, const WorkerReport& report) {
  log::warn("a session failed, and its worker does not answer well",
            {{"gpu", row.id.text}, {"error", report.why_unwell}});
  store_.missed({{row.id, report.why_unwell}}, store_.now());
  // The proxy of a cloud that does not answer says nothing about the pod behind it.
  if (report.answer != WorkerReport::Answer::none || row.source == Source::cloud) return;
  fail_gpu(row.id, "a session failed, and its worker does not answer: " + report.why_unwell);
}

bool Allocator::has_lasting_session(const GpuId& gpu) {
  const std::vector<Lease> leases = store_.leases();
  const TimePoint began_by = store_.now() - options_.faults.lasting;
  return std::any_of(leases.begin(), leases.end(), [&](const Lease& lease) {
    return lease.gpu == gpu && lease.claimed_at <= began_by;
  });
}

void Allocator::session_lasted(const GpuId& gpu, const std::string& client) {
  const auto known = k_session_faults.read(store_);
  if (!known || !known->concerns(gpu, client)) return;
  k_session_faults.update(store_, [&](SessionFaults& faults) { faults.lasted(gpu, client); });
}

void Allocator::fail_gpu(const GpuId& gpu, const std::string& why) {
  // A GPU that is being paused or destroyed, or has failed, is not failed again.
  const auto serves = [](const Gpu& row) { return row.serving(); };
  if (fail_row(store_, gpu, {.cause = {options_.gateway, why}}, serves)) supply_.prepare_next();
}

}  // namespace navtalk
