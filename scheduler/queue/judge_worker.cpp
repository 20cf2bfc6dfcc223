// What sessions that failed mean for their GPU: see allocator.h.
#include <algorithm>

#include "core/log/log.h"
#include "scheduler/pool/fail_row.h"
#include "scheduler/pool/notices.h"
#include "scheduler/queue/allocator.h"

namespace navtalk {

void Allocator::judge(const WorkerReport& report) {
  const std::optional<Gpu> row = store_.find(report.gpu);
  if (!row || !row->serving()) return;
  if (report.answer != WorkerReport::Answer::well) return judge_unwell(*row, report);
  if (row->misses > 0) store_.seen({{.gpu = row->id}}, store_.now());
  log::warn("a session failed at a worker that answers well",
            {{"gpu", row->id.text}, {"error", report.last_fault}});
  if (report.faults.empty()) return;
  const std::vector<LastedSession> living = living_sessions(store_, options_.faults);
  const TimePoint now = store_.now();
  SessionVerdict verdict = SessionVerdict::none;
  update_faults(origin_of(*row), living, [&](SessionFaults& known) {
    for (SessionFault fault : report.faults) {
      fault.origin = origin_of(*row);
      fault.at = now;
      known.add(std::move(fault));
    }
    verdict = judge_sessions(known, row->id, origin_of(*row), living, now, options_.faults);
  });
  const bool lives_on = std::any_of(living.begin(), living.end(),
                                    [&](const auto& session) { return session.gpu == row->id; });
  // What goes on beside late cuts has not outlived them. It goes on until it is cut, too: a failed GPU
  // only takes no more sessions while it has some.
  if (!blames_worker(verdict) || (lives_on && verdict == SessionVerdict::worker)) return;
  fail_gpu(row->id, "session after session fails on it: " + report.last_fault);
}

void Allocator::judge_unwell(const Gpu& row, const WorkerReport& report) {
  log::warn("a session failed, and its worker does not answer well",
            {{"gpu", row.id.text}, {"error", report.why_unwell}});
  store_.missed({{row.id, report.why_unwell}}, store_.now());
  if (report.answer != WorkerReport::Answer::gone) return;
  fail_gpu(row.id, "a session failed, and its worker is gone: " + report.why_unwell);
}

void Allocator::session_lasted(const Lease& lease, const std::string& client, bool cut) {
  const LastedSession session{lease.gpu, lease.origin, lease.claimed_at, store_.now()};
  const auto known = k_session_faults.read(store_);
  if (!known || !known->concerns(session, client)) return;
  update_faults(lease.origin, living_sessions(store_, options_.faults),
                [&](SessionFaults& faults) { faults.note_lasted(session, client, cut); });
}

// Says once when sessions begin to break on most GPUs of one provider, and when that is over: whoever
// writes the change.
void Allocator::update_faults(Origin origin, const std::vector<LastedSession>& living,
                              const std::function<void(SessionFaults&)>& change) {
  const TimePoint now = store_.now();
  bool before = false, after = false;
  k_session_faults.update(store_, [&](SessionFaults& known) {
    known.forget(now - options_.faults.window);
    before = sessions_break(known, origin, living, now, options_.faults);
    change(known);
    after = sessions_break(known, origin, living, now, options_.faults);
  });
  if (before == after) return;
  const std::string provider(name(origin));
  if (after) {
    log::error(
        "sessions break on most GPUs of one provider, and their workers answer well: taken for a "
        "fault of the network or the gateway, so none of them is failed for it",
        {{"provider", provider}});
  } else {
    log::warn("sessions last again on the GPUs of that provider", {{"provider", provider}});
  }
  store_.record(Cause{options_.gateway, provider + std::string(after ? notice::k_sessions_break
                                                                     : ": sessions last again")});
}

void Allocator::fail_gpu(const GpuId& gpu, const std::string& why) {
  // A GPU that is being paused or destroyed, or has failed, is not failed again.
  const auto serves = [](const Gpu& row) { return row.serving(); };
  if (fail_row(store_, gpu, {.cause = {options_.gateway, why}}, serves)) supply_.prepare_next();
}

}  // namespace navtalk
