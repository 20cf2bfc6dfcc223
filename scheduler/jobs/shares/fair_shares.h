// The division of a capacity between tenants: weighted max-min within a plan, higher plans first. Pure.
#pragma once

#include <span>
#include <vector>

namespace navtalk {

struct ShareClaim {
  int plan = 0;
  double weight = 1;  // above 0
  double demand = 0;  // in the unit of the capacity; infinity: as much as there is
  double had = 0;     // before, in that unit: it counts as if it were given now
};

// While a lower plan has demand, the plans above it leave it this part of what they find.
inline constexpr double k_floor = 0.1;

// One share for each claim, in their order: video-minutes a minute, as capacity and demands are.
// No share is above its demand, and they sum up to the smaller one of the capacity and the demands.
// Within a plan nobody who gets less than the demand has less, by weight and with what it has had, than another that gets
// anything. Progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2).
std::vector<double> fair_shares(double capacity, std::span<const ShareClaim> claims);

}  // namespace navtalk
