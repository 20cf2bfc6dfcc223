// The rules: which GPUs to wake, create, pause and destroy so that there are as many slots as are
// wanted.
#include "scheduler/scaling/plan.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "scheduler/provision/backoff.h"
#include "scheduler/scaling/cloud_switch.h"

namespace navtalk {
namespace {

using Kind = Action::Kind;

class Rules {
 public:
  Rules(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now, Plan& plan)
      : snapshot_(snapshot), limits_(limits), now_(now), plan_(plan) {}

  void mend();
  void grow();
  void give_back();
  void shrink();
  void retire();

 private:
  struct Way {
    Kind kind;
    Source source;
    double lead_s;
  };

  void add(Kind kind, std::size_t index, std::string_view why) {
    const Gpu& gpu = snapshot_.gpus[index];
    plan_.actions.push_back(
        {.kind = kind, .index = index, .gpu = gpu.id, .source = gpu.source, .why = why});
  }
  void block(BlockedBy reason) {
    // A full source is no news where another one could have helped.
    const bool better =
        plan_.blocked_by == BlockedBy::none || plan_.blocked_by == BlockedBy::no_room;
    if (better) plan_.blocked_by = reason;
  }
  const SourceState& state_of(Source source) const {
    return snapshot_.sources[static_cast<std::size_t>(source)];
  }
  BlockedBy cap(bool creates, double usd_per_hour) const;
  int wake_some(const Way& way, int missing);
  int create_some(const Way& way, int missing);
  bool removable(const Gpu& gpu) const;
  bool starts_late(const Gpu& gpu) const;
  void remove(std::size_t index, std::string_view why);
  void sort_for_removal(std::vector<std::size_t>& indices) const;
  bool kept_by_operator(const Gpu& gpu) const;
  void drop_paused(std::vector<std::size_t>& pods);

  const Snapshot& snapshot_;
  const ScalingLimits& limits_;
  TimePoint now_;
  Plan& plan_;
  int begun_ = 0;      // wakes and creations of this tick
  int created_ = 0;    // of them, creations
  int kept_pods_ = 0;  // paused ones
  double begun_usd_per_hour_ = 0;
};

bool Rules::starts_late(const Gpu& gpu) const {
  const auto source = static_cast<std::size_t>(gpu.source);
  return gpu.state == State::starting && now_ - gpu.since > limits_.start_deadline.at(source);
}

// What is broken: too slow starts, failed GPUs whose hold is over.
void Rules::mend() {
  for (std::size_t i = 0; i < snapshot_.gpus.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    const bool held = now_ - gpu.since < limits_.failed_hold;
    if (gpu.state == State::failed && gpu.source == Source::external) {
      if (!held) add(Kind::probe, i, "external and failed: ask it again");
    } else if (!gpu.dedicated_to.empty()) {
      continue;
    } else if (starts_late(gpu)) {
      add(Kind::fail, i, "its start took longer than the deadline");
    } else if (gpu.state == State::failed && !held && gpu.sessions == 0) {
      add(Kind::clear_failed, i, "failed, and its hold is over");
    }
  }
}

BlockedBy Rules::cap(bool creates, double usd_per_hour) const {
  if (limits_.max_creates_per_tick > 0 && begun_ >= limits_.max_creates_per_tick) {
    return BlockedBy::creates_per_tick;
  }
  if (limits_.max_usd_per_hour > 0 &&
      plan_.census.usd_per_hour + begun_usd_per_hour_ + usd_per_hour > limits_.max_usd_per_hour) {
    return BlockedBy::max_usd;
  }
  if (creates && limits_.max_gpus > 0 && plan_.census.gpus + created_ >= limits_.max_gpus) {
    return BlockedBy::max_gpus;
  }
  return BlockedBy::none;
}

int Rules::wake_some(const Way& way, int missing) {
  const BlockedBy waits = backoff(snapshot_.demand.wake_at(way.source), limits_, now_);
  for (std::size_t i = 0; i < snapshot_.gpus.size() && missing > 0; ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    const bool wakeable = gpu.state == State::paused && gpu.source == way.source && shared(gpu) &&
                          gpu.intent.operation == Operation::none;
    if (!wakeable) continue;
    const BlockedBy blocked_by = waits == BlockedBy::none ? cap(false, gpu.usd_per_hour) : waits;
    if (blocked_by != BlockedBy::none) {
      block(blocked_by);
      break;
    }
    add(Kind::wake, i, "more slots are wanted, and it is paused");
    ++begun_;
    begun_usd_per_hour_ += gpu.usd_per_hour;
    missing -= gpu.slots;
  }
  return missing;
}

int Rules::create_some(const Way& way, int missing) {
  const SourceState& from = state_of(way.source);
  const BlockedBy waits = backoff(snapshot_.demand.create_at(way.source), limits_, now_);
  for (int made = 0; missing > 0; ++made) {
    BlockedBy blocked_by = waits;
    if (blocked_by == BlockedBy::none && (!from.available || made >= from.room))
      blocked_by = BlockedBy::no_room;
    if (blocked_by == BlockedBy::none && snapshot_.creation_paused_until &&
        now_ < *snapshot_.creation_paused_until) {
      blocked_by = BlockedBy::paused_creation;
    }
    if (blocked_by == BlockedBy::none) blocked_by = cap(true, from.usd_per_hour);
    if (blocked_by != BlockedBy::none) {
      block(blocked_by);
      break;
    }
    plan_.actions.push_back({.kind = Kind::create,
                             .source = way.source,
                             .why = "more slots are wanted, and nothing paused comes sooner"});
    ++begun_;
    ++created_;
    begun_usd_per_hour_ += from.usd_per_hour;
    missing -= from.slots_at(made);
  }
  return missing;
}

// Local before cloud; at each the way that is likely to be faster first.
void Rules::grow() {
  const Census& census = plan_.census;
  int missing = plan_.wanted.least - census.supply();
  if (missing <= 0) return;
  if (census.holding > 0) block(BlockedBy::failed_hold);
  missing -= census.holding;
  const Demand& demand = snapshot_.demand;
  const auto lead_s = [](const LeadTime& lead) { return in_seconds(lead.p90) / lead.success_rate; };
  for (const Source source : {Source::local, Source::external, Source::cloud}) {
    if (source == Source::cloud && !plan_.cloud) continue;
    std::array<Way, 2> ways{{{Kind::wake, source, lead_s(demand.wake_at(source))},
                             {Kind::create, source, lead_s(demand.create_at(source))}}};
    if (ways[1].lead_s < ways[0].lead_s) std::swap(ways[0], ways[1]);
    for (const Way& way : ways) {
      if (missing <= 0) break;
      missing = way.kind == Kind::wake ? wake_some(way, missing) : create_some(way, missing);
    }
  }
  plan_.missing = std::max(0, missing);
  if (plan_.missing == 0)
    plan_.blocked_by = BlockedBy::none;
  else
    block(BlockedBy::no_room);
}

bool Rules::removable(const Gpu& gpu) const {
  if (gpu.state != State::idle || gpu.sessions > 0) return false;
  if (gpu.source == Source::external || !gpu.dedicated_to.empty()) return false;
  if (gpu.intent.operation != Operation::none) return false;
  // The waiter that it was started for is about to claim it; an old reservation holds nothing.
  return gpu.reserved_for.empty() || now_ - gpu.since >= limits_.reservation_hold;
}

// A local GPU is kept paused, which costs nothing; a pod only while that is worth its disk.
void Rules::remove(std::size_t index, std::string_view why) {
  const Gpu& gpu = snapshot_.gpus[index];
  bool keep = gpu.source == Source::local;
  if (gpu.source == Source::cloud && plan_.cloud) {
    const bool wakes =
        snapshot_.demand.wake_at(Source::cloud).success_rate >= limits_.min_wake_success_rate;
    keep = wakes && kept_pods_ < limits_.max_paused_cloud;
    if (keep) ++kept_pods_;
  }
  add(keep ? Kind::pause : Kind::destroy, index, why);
}

// Cloud first, the most expensive first, then what has been in trouble, then the newest.
void Rules::sort_for_removal(std::vector<std::size_t>& indices) const {
  std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
    const Gpu &left = snapshot_.gpus[a], &right = snapshot_.gpus[b];
    const auto key = [](const Gpu& gpu, std::size_t index) {
      return std::tuple(gpu.source == Source::cloud, gpu.usd_per_hour, !gpu.last_error.empty(),
                        index);
    };
    return key(left, a) > key(right, b);
  });
}

// Whoever drains a pod wants it gone, and pays for it until it is. A drained local GPU keeps its
// row, and with it its device, on which otherwise another worker would be started; but it frees the
// device's memory. None of them was supply, so this takes nothing away.
void Rules::give_back() {
  for (std::size_t i = 0; i < snapshot_.gpus.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    if (!gpu.draining) continue;
    const bool stopped = gpu.state == State::paused && gpu.dedicated_to.empty() &&
                         gpu.intent.operation == Operation::none;
    if (gpu.source == Source::cloud && (stopped || removable(gpu))) {
      add(Kind::destroy, i, "drained, and without sessions");
    } else if (gpu.source == Source::local && removable(gpu)) {
      add(Kind::pause, i, "drained, and without sessions: its device is free");
    }
  }
}

void Rules::shrink() {
  if (!snapshot_.demand.history_ready) return;
  int surplus = plan_.census.supply() - plan_.wanted.most;
  std::vector<std::size_t> idle, paused_pods;
  for (std::size_t i = 0; i < snapshot_.gpus.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    if (gpu.state == State::paused && gpu.source == Source::cloud && shared(gpu) &&
        gpu.intent.operation == Operation::none && !kept_by_operator(gpu)) {
      paused_pods.push_back(i);
    }
    if (gpu.draining || !removable(gpu)) continue;
    if (gpu.source == Source::cloud && !plan_.cloud) {
      add(Kind::destroy, i, "the cloud is switched off");
    } else if (surplus > 0) {
      idle.push_back(i);
    }
  }
  kept_pods_ = static_cast<int>(paused_pods.size());
  sort_for_removal(idle);
  for (const std::size_t i : idle) {
    if (snapshot_.gpus[i].slots > surplus) continue;
    surplus -= snapshot_.gpus[i].slots;
    remove(i, "more slots are free than are wanted");
  }
  drop_paused(paused_pods);
}

// One after the other, and none while anything starts, so that a pool whose pods are all of one age
// is not without GPUs at once.
void Rules::retire() {
  if (limits_.max_pod_age <= Duration{} || plan_.census.starting > 0) return;
  for (std::size_t i = 0; i < snapshot_.gpus.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    const bool in_use = gpu.state == State::idle || gpu.state == State::running;
    const bool old = now_ - gpu.created_at >= limits_.max_pod_age;
    if (gpu.source != Source::cloud || !in_use || !old || !shared(gpu)) continue;
    const auto same = [&](const Action& action) { return action.gpu == gpu.id; };
    if (gpu.intent.operation != Operation::none ||
        std::any_of(plan_.actions.begin(), plan_.actions.end(), same)) {
      continue;
    }
    return add(Kind::drain, i, "older than a pod may be");
  }
}

// Until the cloud is switched off: then no pod is to stay.
bool Rules::kept_by_operator(const Gpu& gpu) const {
  return limits_.cloud != CloudSwitch::off && snapshot_.kept_paused.contains(gpu.id);
}

void Rules::drop_paused(std::vector<std::size_t>& pods) {
  const int worth = limits_.cloud == CloudSwitch::off ? 0 : limits_.max_paused_cloud;
  sort_for_removal(pods);
  for (const std::size_t i : pods) {
    if (kept_pods_ <= worth) break;
    const auto woken = [&](const Action& action) {
      return action.index == i && action.kind == Kind::wake;
    };
    if (std::any_of(plan_.actions.begin(), plan_.actions.end(), woken)) continue;
    add(Kind::destroy, i, "more pods are paused than are worth their disk");
    --kept_pods_;
  }
}

}  // namespace

void plan(const Snapshot& snapshot, const ScalingLimits& limits, const Wanted& wanted,
          TimePoint now, Plan& plan) {
  plan.actions.clear();
  plan.census = census(snapshot, limits, now);
  plan.wanted = wanted;
  plan.shadow.reset();
  plan.blocked_by = BlockedBy::none;
  plan.missing = 0;
  plan.memory = updated_memory(snapshot, limits, plan.census, wanted, now);
  plan.cloud = plan.memory.cloud_on;
  Rules rules(snapshot, limits, now, plan);
  rules.mend();
  rules.grow();
  rules.give_back();
  rules.shrink();
  rules.retire();
}

void decide(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now, Plan& into) {
  const Census counted = census(snapshot, limits, now);
  const Wanted chosen = wanted(snapshot, limits, counted, now);
  plan(snapshot, limits, chosen, now, into);
  if (chosen.surge && snapshot.memory.surge_until <= now) {
    into.memory.surge_until = now + limits.surge_hold;
  }
  if (limits.shadow) {
    ScalingLimits other = limits;
    other.policy = *limits.shadow;
    into.shadow = wanted(snapshot, other, counted, now);
  }
  // The shadow learns, too: it is to show what it would do.
  const Wanted& adaptive =
      limits.policy == ScalingPolicy::adaptive ? chosen : into.shadow.value_or(chosen);
  if (adaptive.slowest.horizon_s > 0) {
    into.memory.headroom.used = adaptive.learnt;
    into.memory.headroom.look(now, {.busy = counted.busy + snapshot.queued,
                                    .fast_per_s = snapshot.demand.fast_per_s,
                                    .outlook = adaptive.slowest});
  }
}

Plan decide(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now) {
  Plan plan;
  decide(snapshot, limits, now, plan);
  return plan;
}

}  // namespace navtalk
