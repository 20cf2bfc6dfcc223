#include "scheduler/scaling/growth.h"

#include <algorithm>
#include <array>

#include "scheduler/provision/backoff.h"

namespace navtalk {
namespace {

using Kind = Action::Kind;

class Growth {
 public:
  Growth(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now, Plan& plan)
      : snapshot_(snapshot), limits_(limits), now_(now), plan_(plan) {}

  void run();

 private:
  struct Way {
    Kind kind;
    Source source;
    double lead_s;
  };

  void block(BlockedBy reason) {
    // A full source says little where another one could have helped.
    const bool better =
        plan_.blocked_by == BlockedBy::none || plan_.blocked_by == BlockedBy::nothing_creatable;
    if (better) plan_.blocked_by = reason;
  }
  BlockedBy cap(bool creates, double usd_per_hour) const;
  BlockedBy blocks_create(const SourceState& from, int made, BlockedBy source_backoff) const;
  std::array<Way, 2> ways(Source source) const;
  bool tries_one(Source source) const;
  int wake_some(const Way& way, int missing);
  int create_some(const Way& way, int missing);

  const Snapshot& snapshot_;
  const ScalingLimits& limits_;
  TimePoint now_;
  Plan& plan_;
  std::array<int, k_sources> begun_at_{};
  int begun_ = 0;    // wakes and creations of this tick
  int created_ = 0;  // of them, creations
  double begun_usd_per_hour_ = 0;
};

BlockedBy Growth::cap(bool creates, double usd_per_hour) const {
  if (limits_.max_creates_per_tick > 0 && begun_ >= limits_.max_creates_per_tick) {
    return BlockedBy::creates_per_tick;
  }
  const double usd = plan_.capacity.usd_per_hour + begun_usd_per_hour_ + usd_per_hour;
  if (limits_.max_usd_per_hour > 0 && usd > limits_.max_usd_per_hour + k_rounding_usd) {
    return BlockedBy::max_usd;
  }
  if (creates && limits_.max_gpus > 0 && plan_.capacity.gpus + created_ >= limits_.max_gpus) {
    return BlockedBy::max_gpus;
  }
  return BlockedBy::none;
}

// In an outage of its source one new GPU at a time shows whether others would answer.
bool Growth::tries_one(Source source) const {
  const bool outage = source == Source::cloud      ? cloud_outage(snapshot_.outages)
                      : source == Source::external ? snapshot_.outages[Origin::external].on
                                                   : false;
  if (!outage) return false;
  return begun_at_.at(static_cast<std::size_t>(source)) > 0 ||
         std::any_of(snapshot_.gpus.begin(), snapshot_.gpus.end(),
                     [&](const Gpu& gpu) { return starts_at(gpu, source); });
}

int Growth::wake_some(const Way& way, int missing) {
  const BlockedBy source_backoff = backoff(snapshot_.demand.wake_at(way.source), limits_, now_);
  for (std::size_t i = 0; i < snapshot_.gpus.size() && missing > 0; ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    const bool wakeable = gpu.state == State::paused && gpu.source == way.source && shared(gpu) &&
                          gpu.intent.operation == Operation::none;
    if (!wakeable) continue;
    const BlockedBy blocked_by = tries_one(way.source)               ? BlockedBy::outage
                                 : source_backoff == BlockedBy::none ? cap(false, gpu.usd_per_hour)
                                                                     : source_backoff;
    if (blocked_by != BlockedBy::none) {
      block(blocked_by);
      break;
    }
    plan_.actions.push_back({.kind = Kind::wake,
                             .index = i,
                             .gpu = gpu.id,
                             .source = gpu.source,
                             .why = "more slots are needed, and it is paused"});
    ++begun_;
    ++begun_at_.at(static_cast<std::size_t>(way.source));
    begun_usd_per_hour_ += gpu.usd_per_hour;
    missing -= gpu.slots;
  }
  return missing;
}

BlockedBy Growth::blocks_create(const SourceState& from, int made, BlockedBy source_backoff) const {
  const bool creatable = from.available && made < from.creatable;
  // Before the backoff, which says less: a person has to act.
  const bool paused = snapshot_.creation_paused_until && now_ < *snapshot_.creation_paused_until;
  if (creatable && paused) return BlockedBy::paused_creation;
  if (source_backoff != BlockedBy::none) return source_backoff;
  return creatable ? cap(true, from.usd_per_hour) : BlockedBy::nothing_creatable;
}

int Growth::create_some(const Way& way, int missing) {
  const SourceState& from = snapshot_.sources[static_cast<std::size_t>(way.source)];
  const BlockedBy source_backoff = backoff(snapshot_.demand.create_at(way.source), limits_, now_);
  for (int made = 0; missing > 0; ++made) {
    const BlockedBy blocked_by =
        tries_one(way.source) ? BlockedBy::outage : blocks_create(from, made, source_backoff);
    if (blocked_by != BlockedBy::none) {
      block(blocked_by);
      break;
    }
    plan_.actions.push_back({.kind = Kind::create,
                             .source = way.source,
                             .why = "more slots are needed, and no paused GPU is faster"});
    ++begun_;
    ++begun_at_.at(static_cast<std::size_t>(way.source));
    ++created_;
    begun_usd_per_hour_ += from.usd_per_hour;
    missing -= from.slots_at(made);
  }
  return missing;
}

// Waking and creating, the faster first.
std::array<Growth::Way, 2> Growth::ways(Source source) const {
  const auto lead_s = [](const LeadTime& lead) { return in_seconds(lead.p90) / lead.success_rate; };
  std::array<Way, 2> ways{{{Kind::wake, source, lead_s(snapshot_.demand.wake_at(source))},
                           {Kind::create, source, lead_s(snapshot_.demand.create_at(source))}}};
  if (ways[1].lead_s < ways[0].lead_s) std::swap(ways[0], ways[1]);
  return ways;
}

void Growth::run() {
  int missing = plan_.target.least - plan_.capacity.supply();
  if (missing <= 0) return;
  if (plan_.capacity.holding > 0) block(BlockedBy::failed_hold);
  missing -= plan_.capacity.holding;
  for (const Source source : {Source::local, Source::external, Source::cloud}) {
    if (source == Source::cloud && !plan_.cloud) continue;
    for (const Way& way : ways(source)) {
      if (missing <= 0) break;
      missing = way.kind == Kind::wake ? wake_some(way, missing) : create_some(way, missing);
    }
  }
  plan_.missing = std::max(0, missing);
  if (plan_.missing == 0)
    plan_.blocked_by = BlockedBy::none;
  else
    block(BlockedBy::nothing_creatable);
}

}  // namespace

void grow(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now, Plan& plan) {
  Growth(snapshot, limits, now, plan).run();
}

}  // namespace navtalk
