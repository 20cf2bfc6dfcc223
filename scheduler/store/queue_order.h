// Who in the queue may have the next free slot. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "scheduler/pool/gpu.h"
#include "scheduler/pool/session.h"

namespace navtalk {

// A GPU that a claimant refuses, with free slots for others.
struct RefusedGpu {
  GpuId id{};
  TenantId dedicated_to{};
  std::string host{};  // of a local one
  int free = 0;
};

// Free slots: those that every gateway can reach, and those of local GPUs, for their own host.
struct SlotsByHost {
  int anywhere = 0;
  std::map<std::string, int> of_host{};
};

// What is free, and what the tenants concerned hold already.
struct FreeSlots {
  SlotsByHost shared{};
  std::map<TenantId, SlotsByHost> dedicated{};  // tenants with GPUs of their own
  std::map<TenantId, int> held{};               // open sessions; needed where max_sessions is set
  // GPUs that somebody in the queue refuses; `shared` and `dedicated` do not count their slots.
  std::vector<RefusedGpu> refused{};
};

// Is a slot left for `claimant` after everyone in `ahead`, in order of service, has taken one that they
// may use? Tenants take their dedicated slots first, those of their gateway's host before others, and
// no more than max_sessions in all.
bool reaches(const std::vector<Claimant>& ahead, const Claimant& claimant, FreeSlots slots);
// How many of them get a slot, one after the other. Each takes one that somebody else refuses, where it can.
std::size_t served(const std::vector<Claimant>& claimants, FreeSlots slots);
// The slots without `count` of that GPU.
FreeSlots without(FreeSlots slots, const Gpu& gpu, int count);

// Start-time fair queueing within a plan. A waiter's start tag is its tenant's last finish tag, but not
// below the plan's virtual time (the tag served last); the finish tag is 1/weight later. So tenants
// with a backlog are served in proportion to their weights, and idle time earns no credit.
double start_tag(double virtual_time, double tenant_finish);
double finish_tag(double start, double weight);

}  // namespace navtalk
