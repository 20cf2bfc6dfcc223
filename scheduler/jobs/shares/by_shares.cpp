#include <algorithm>
#include <functional>
#include <utility>

#include "scheduler/jobs/shares/charges.h"
#include "scheduler/jobs/shares/claim_choice.h"
#include "scheduler/jobs/shares/first_jobs.h"
#include "scheduler/jobs/shares/share_tables.h"

namespace navtalk {
namespace {

std::size_t index_of(const ClaimCandidate& candidate) {
  return static_cast<std::size_t>(candidate.order);
}

// As if the slot that is to be given were one of those in use.
void compare_with_parts(const LaneUse& lane, std::vector<ClaimCandidate>& candidates) {
  if (candidates.size() < 2) return;
  const std::vector<double> parts = slot_parts(lane.uses, lane.running() + 1);
  for (ClaimCandidate& one : candidates)
    one.below = below_part(lane.uses[index_of(one)].running, parts[index_of(one)]);
}

struct FirstJob {
  ClaimCandidate candidate{};
  Job job{};
};

// Only the first ones of the plans are read: within a plan nobody's job matters. The tenants' numbers of jobs are exact,
// so each has one; who had none all the same would not be asked again.
std::optional<FirstJob> chosen_of(Transaction& transaction, const LaneUse& lane,
                                  std::vector<ClaimCandidate> candidates) {
  std::vector<ClaimCandidate> read;
  std::vector<Job> jobs;
  while (read.empty() && !candidates.empty()) {
    std::vector<std::size_t> next = next_of_plans(candidates, lane.times);
    for (const std::size_t i : next) {
      auto job = first_job_of(transaction, lane.tenants[index_of(candidates[i])]);
      if (!job) continue;
      candidates[i].waits_since = job->changed_at;
      read.push_back(candidates[i]);
      jobs.push_back(std::move(*job));
    }
    std::ranges::sort(next, std::greater<>{});
    for (const std::size_t i : next) candidates.erase(candidates.begin() + static_cast<long>(i));
  }
  const auto chosen = choose(read, lane.times, transaction.now);
  if (!chosen) return std::nullopt;
  return FirstJob{read[*chosen], std::move(jobs[*chosen])};
}

}  // namespace

ClaimOrder by_shares(TenantTermsTable fixed) {
  return [fixed = std::move(fixed)](Transaction& transaction) -> std::optional<Job> {
    LaneUse lane = lane_use(transaction, fixed);
    std::vector<ClaimCandidate> candidates = candidates_of(lane, transaction.now);
    compare_with_parts(lane, candidates);
    auto first = chosen_of(transaction, lane, std::move(candidates));
    if (!first) return std::nullopt;
    Job& job = first->job;
    job.placed = work_left(job);
    write_place(transaction, {.tenant = job.spec.tenant,
                              .terms = lane.uses[index_of(first->candidate)].terms,
                              .place = place_after(first->candidate, job.placed, lane.times)});
    return std::move(job);
  };
}

}  // namespace navtalk
