#include "scheduler/jobs/shares/preemption_in_store.h"

#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/jobs/shares/first_jobs.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

struct RunningJob {
  JobId id{};
  TenantId tenant{};
  std::string worker{};
  SlotRun run{};
};

// What the choice is made of.
struct Slots {
  std::vector<SlotTenant> tenants{};
  std::vector<RunningJob> running{};
};

// By number. Events have the wall clock's times. Not in SQL's order: for that SQLite would walk through all jobs ever
// submitted, instead of the index of those that run.
std::vector<RunningJob> running_jobs(Transaction& transaction) {
  const auto rows = transaction.db.query(
      "SELECT j.number, j.id, j.tenant, j.worker, j.work - j.finished, j.placed, (SELECT e.at FROM "
      "job_events e WHERE e.job = j.number AND e.event = 2 ORDER BY e.number DESC LIMIT 1) FROM "
      "jobs j WHERE j.state = 2",
      {});
  std::vector<RunningJob> running;
  while (rows->next()) {
    running.push_back(
        {.id = {column::text(*rows, 1)},
         .tenant = {column::text(*rows, 2)},
         .worker = column::text(*rows, 3),
         .run = {.job = rows->integer(0),
                 .since = transaction.now - (transaction.wall - column::time(*rows, 6)),
                 .left = VideoMinutes(column::duration(*rows, 4)),
                 .placed = VideoMinutes(column::duration(*rows, 5))}});
  }
  std::ranges::sort(running, {}, [](const RunningJob& one) { return one.run.job; });
  return running;
}

Slots slots_of(const LaneUse& lane, std::vector<RunningJob> running,
               const std::vector<ClaimCandidate>& first) {
  Slots slots;
  for (std::size_t i = 0; i < lane.uses.size(); ++i)
    slots.tenants.push_back({.use = lane.uses[i], .place = lane.places[i]});
  for (const ClaimCandidate& one : first)
    slots.tenants[static_cast<std::size_t>(one.order)].first = one;
  for (RunningJob& one : running) {
    const auto tenant = lane.find(one.tenant);
    if (!tenant) continue;
    one.run.tenant = *tenant;
    slots.running.push_back(std::move(one));
  }
  return slots;
}

// The worker that has the most of the runs: only one of several gives what is asked for.
std::string holder_of(const Preemption& preemption, const std::vector<RunningJob>& running) {
  std::map<std::string, std::size_t> counts;
  for (const std::size_t run : preemption.runs) ++counts[running[run].worker];
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::string{} : most->first;
}

// Lent slots on which no job runs at the moment. Who gave way a moment ago, at this gateway or another, has made room
// for whoever is next. A lease that has run out promises nothing: its gateway may be dead.
std::size_t slots_between(Transaction& transaction, std::size_t running) {
  const auto rows = transaction.db.query(
      "SELECT COUNT(*) FROM sessions WHERE lane = 1 AND until > $1", {column::of(transaction.now)});
  const auto lent = rows->next() ? static_cast<std::size_t>(rows->integer(0)) : 0;
  return lent > running ? lent - running : 0;
}

// With the times at which their jobs were released.
std::vector<ClaimCandidate> waiting_in(Transaction& transaction, const LaneUse& lane) {
  std::vector<ClaimCandidate> all = candidates_of(lane, transaction.now);
  if (all.empty()) return all;
  const std::map<TenantId, TimePoint> releases = first_releases(transaction);
  std::erase_if(all, [&](ClaimCandidate& one) {
    const auto found = releases.find(lane.tenants[static_cast<std::size_t>(one.order)]);
    if (found != releases.end()) one.waits_since = found->second;
    return found == releases.end();
  });
  return all;
}

// Where the tenants that wait are those that run, there is nothing to ask for.
bool several_tenants(const Slots& slots) {
  return std::ranges::any_of(slots.running, [&](const RunningJob& one) {
    for (std::size_t i = 0; i < slots.tenants.size(); ++i)
      if (slots.tenants[i].first && i != one.run.tenant) return true;
    return false;
  });
}

// Of the kept slots that are taken.
SlotNeed headroom_need(const LaneUse& lane, TimePoint now) {
  const auto flood = lane.find(lane.headroom.tenant);
  if (!flood) return {.lacks_slot = false};
  const std::int64_t room = lane.headroom.room(lane.running(), now);
  return {.lacks_slot = false, .room = static_cast<std::size_t>(room), .flood = *flood};
}

}  // namespace

std::vector<JobPreemption> preemptions_in(Transaction& transaction, const TenantTermsTable& fixed,
                                          const std::string& worker, bool lacks_slot,
                                          const PreemptionRules& rules) {
  const LaneUse lane = lane_use(transaction, fixed);
  SlotNeed need = headroom_need(lane, transaction.now);
  if (!lacks_slot && need.room == 0) return {};
  std::vector<ClaimCandidate> first;
  if (lacks_slot) first = waiting_in(transaction, lane);
  if (first.empty() && need.room == 0) return {};
  std::vector<RunningJob> all = running_jobs(transaction);
  const std::size_t running = all.size();
  const Slots slots = slots_of(lane, std::move(all), first);
  need.lacks_slot = lacks_slot && several_tenants(slots);
  if (!need.lacks_slot && need.room == 0) return {};
  std::vector<SlotRun> runs;
  for (const RunningJob& one : slots.running) runs.push_back(one.run);
  std::vector<JobPreemption> mine;
  std::size_t between = slots_between(transaction, running);
  for (Preemption& one :
       preemptions(slots.tenants, runs, lane.times, transaction.now, rules, need)) {
    const std::size_t given = std::min(between, one.count);
    between -= given;
    one.count -= given;
    if (one.count == 0 || holder_of(one, slots.running) != worker) continue;
    JobPreemption preemption{.count = one.count};
    for (const std::size_t run : one.runs) {
      if (slots.running[run].worker == worker) preemption.jobs.push_back(slots.running[run].id);
    }
    mine.push_back(std::move(preemption));
  }
  return mine;
}

}  // namespace navtalk
