// Which running jobs give way to another tenant's: whose tenant has more of the slots than its share, while no slot is
// free and the job that is next belongs to a tenant that has less. And which give way before anybody waits: those of a flood,
// from which slots are kept free. Pure.
//
//   slots in use ──► weighted max-min over what each tenant has running and waiting ──► its part of the slots
//   the next job's tenant is below its part, another has a whole slot more than its part ──► one of that one's runs
//                                            another is above it by less than a slot     ──► one that has had its slice
//                                              of a lower plan ──► one that has had as many slices as its part is larger
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduler/jobs/shares/claim_choice.h"
#include "scheduler/jobs/shares/slot_parts.h"

namespace navtalk {

struct PreemptionRules {
  // Since it was claimed: until then a job gives way to nobody, and then behind its next segment. Each claim costs a start.
  Duration least_run = std::chrono::seconds(5);
  // Tenants that share fewer slots than they are take turns of this length, longer ones where a lower plan's tenant is
  // next; below zero: only whole slots are given.
  Duration slice = std::chrono::minutes(2);
  VideoMinutes least_left{std::chrono::seconds(20)};  // of a job that gives way
};

// What a tenant has of the slots, and the first of its jobs that wait; nullopt: none may be claimed.
struct SlotTenant {
  SlotUse use{};
  FairPlace place{};
  std::optional<ClaimCandidate> first{};
};

struct SlotRun {
  std::int64_t job = 0;
  std::size_t tenant = 0;  // index of its SlotTenant
  TimePoint since{};       // claimed
  VideoMinutes left{};     // work that is in no finished segment
  VideoMinutes placed{};   // what its claim has cost its tenant, as Job::placed
};

// `count` of these runs, whichever finish a segment first.
struct Preemption {
  std::vector<std::size_t> runs{};  // indices
  std::size_t count = 0;

  friend bool operator==(const Preemption&, const Preemption&) = default;
};

// Why jobs are to give way.
struct SlotNeed {
  bool lacks_slot = true;  // none is free for a job that waits
  // Kept slots (flood_headroom.h) that are taken, and the tenant from which they are kept.
  std::size_t room = 0, flood = 0;
};

// While no slot is free nobody's job gives way to one that would not be claimed in its place, nor does a tenant
// fall below its part by more than a turn of slices. One entry for each tenant whose jobs give way.
std::vector<Preemption> preemptions(std::span<const SlotTenant> tenants,
                                    std::span<const SlotRun> runs, const VirtualTimes& times,
                                    TimePoint now, const PreemptionRules& rules = {},
                                    const SlotNeed& need = {});

}  // namespace navtalk
