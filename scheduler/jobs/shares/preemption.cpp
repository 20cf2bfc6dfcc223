#include "scheduler/jobs/shares/preemption.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace navtalk {
namespace {

// One decision. The tenants change as if what was decided had happened.
class Choice {
 public:
  Choice(std::span<const SlotTenant> tenants, std::span<const SlotRun> runs, VirtualTimes times,
         TimePoint now, const PreemptionRules& rules, const SlotNeed& need)
      : tenants_(tenants.begin(), tenants.end()),
        runs_(runs),
        times_(std::move(times)),
        now_(now),
        rules_(rules),
        need_(need),
        runs_of_(tenants.size()) {
    for (std::size_t i = 0; i < runs.size(); ++i) runs_of_[runs[i].tenant].push_back(i);
  }

  std::vector<Preemption> all() {
    if (need_.lacks_slot) {
      do {
        part_ = parts();
      } while (give());
    }
    if (need_.room > 0) make_room();
    std::vector<Preemption> preemptions;
    for (auto& [tenant, preemption] : decided_) preemptions.push_back(std::move(preemption));
    return preemptions;
  }

 private:
  std::vector<double> parts() const {
    std::int64_t slots = 0;
    std::vector<SlotUse> uses;
    for (const SlotTenant& tenant : tenants_) {
      slots += tenant.use.running;
      uses.push_back(tenant.use);
    }
    return slot_parts(uses, slots);
  }

  double above(std::size_t tenant) const {
    return static_cast<double>(tenants_[tenant].use.running) - part_[tenant];
  }

  bool below(std::size_t tenant, std::int64_t ended = 0) const {
    return below_part(tenants_[tenant].use.running - ended, part_[tenant]);
  }

  // Of those that wait, but for one tenant's; `tenant` tells whose each is.
  struct Waiting {
    std::vector<ClaimCandidate> first{};
    std::vector<std::size_t> tenant{};

    std::optional<std::size_t> next(const VirtualTimes& times, TimePoint now) const {
      const auto chosen = choose(first, times, now);
      return chosen ? std::optional(tenant[*chosen]) : std::nullopt;
    }
    void add(const ClaimCandidate& candidate, std::size_t whose) {
      first.push_back(candidate);
      tenant.push_back(whose);
    }
  };

  Waiting waiting(std::optional<std::size_t> without = {}) const {
    Waiting all;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      if (i == without || !tenants_[i].first) continue;
      ClaimCandidate first = *tenants_[i].first;
      first.below = below(i);
      all.add(first, i);
    }
    return all;
  }

  // The first of each plan: no other one of these would be claimed, whatever else waits.
  Waiting rivals_of(std::size_t tenant) const {
    std::map<int, Waiting> plans;
    const Waiting all = waiting(tenant);
    for (std::size_t i = 0; i < all.first.size(); ++i)
      plans[all.first[i].plan].add(all.first[i], all.tenant[i]);
    Waiting rivals;
    for (const auto& [plan, these] : plans) {
      const std::size_t first = choose(these.first, times_, now_).value();
      rivals.add(these.first[first], these.tenant[first]);
    }
    return rivals;
  }

  // The run's job as it then waits, with what is given back for it.
  ClaimCandidate after(const SlotRun& run) const {
    const SlotTenant& tenant = tenants_[run.tenant];
    ClaimCandidate candidate =
        tenant.first.value_or(ClaimCandidate{.order = static_cast<std::int64_t>(run.tenant),
                                             .plan = tenant.use.terms.plan,
                                             .weight = tenant.use.terms.weight,
                                             .place = tenant.place,
                                             .waits_since = now_});
    candidate.place.finished -= std::min(run.placed, run.left).count() / candidate.weight;
    return candidate;
  }

  // Within a plan the fair order divides the time. Towards a lower plan's tenant the slice is as many times longer as
  // the part is, since one that has waited for a minute goes before higher plans. Seconds: it may be longer than a
  // Duration.
  double slice_s(std::size_t loser, std::size_t winner) const {
    const bool lower = tenants_[winner].use.terms.plan < tenants_[loser].use.terms.plan;
    return in_seconds(rules_.slice) * (lower ? std::max(part_[loser] / part_[winner], 1.0) : 1);
  }

  // Those that may give way to the winner, which is below its part: it would be claimed next if they had ended now.
  std::vector<std::size_t> runs_of(std::size_t loser, std::size_t winner) const {
    const bool whole = above(loser) >= 1 - k_rounding;
    if (!whole && rules_.slice < Duration{}) return {};
    const double least_s =
        std::max(in_seconds(rules_.least_run), whole ? 0 : slice_s(loser, winner));
    std::vector<std::size_t> runs;
    std::optional<Waiting> rivals;
    for (const std::size_t i : runs_of_[loser]) {
      const SlotRun& run = runs_[i];
      if (!may_end(run, least_s)) continue;
      if (!rivals) rivals = rivals_of(loser);
      ClaimCandidate own = after(run);
      own.below = below(loser, 1);
      rivals->add(own, loser);
      if (rivals->next(times_, now_) == winner) runs.push_back(i);
      rivals->first.pop_back();
      rivals->tenant.pop_back();
    }
    return runs;
  }

  // Those above their parts, the highest first.
  std::vector<std::size_t> losers() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      if (above(i) > k_rounding && !runs_of_[i].empty()) all.push_back(i);
    }
    std::ranges::stable_sort(all, std::greater<>{}, [&](std::size_t i) { return above(i); });
    return all;
  }

  bool give() {
    const auto winner = waiting().next(times_, now_);
    if (!winner || !below(*winner)) return false;
    std::optional<std::size_t> loser;
    std::vector<std::size_t> runs;
    for (const std::size_t i : losers()) {
      runs = runs_of(i, *winner);
      const auto before = decided_.find(i);
      if (runs.size() <= (before == decided_.end() ? 0 : before->second.count)) continue;
      loser = i;
      break;
    }
    if (!loser) return false;
    Preemption& preemption = decided_[*loser];
    preemption.runs = std::move(runs);
    ++preemption.count;
    --tenants_[*loser].use.running;
    ++tenants_[*loser].use.waiting;
    SlotTenant& served = tenants_[*winner];
    ++served.use.running;
    --served.use.waiting;
    served.first.reset();  // of its second job nothing is known
    return true;
  }

  bool may_end(const SlotRun& run, double least_s) const {
    return in_seconds(now_ - run.since) >= least_s && run.left >= rules_.least_left;
  }

  // Who gives way to another tenant's job leaves no slot free: that many more do.
  void make_room() {
    std::vector<std::size_t> runs;
    for (const std::size_t i : runs_of_[need_.flood])
      if (may_end(runs_[i], in_seconds(rules_.least_run))) runs.push_back(i);
    if (runs.empty()) return;
    Preemption& preemption = decided_[need_.flood];
    preemption.count = std::min(preemption.count + need_.room, runs.size());
    preemption.runs = std::move(runs);
  }

  static constexpr double k_rounding = 1e-9;

  std::vector<SlotTenant> tenants_;
  std::span<const SlotRun> runs_;
  VirtualTimes times_;
  TimePoint now_;
  const PreemptionRules& rules_;
  const SlotNeed& need_;
  std::vector<std::vector<std::size_t>> runs_of_;  // by tenant
  std::vector<double> part_{};                     // of the slots, by tenant
  std::map<std::size_t, Preemption> decided_{};    // by the tenant that gives
};

}  // namespace

std::vector<Preemption> preemptions(std::span<const SlotTenant> tenants,
                                    std::span<const SlotRun> runs, const VirtualTimes& times,
                                    TimePoint now, const PreemptionRules& rules,
                                    const SlotNeed& need) {
  return Choice(tenants, runs, times, now, rules, need).all();
}

}  // namespace navtalk
