#include "scheduler/jobs/shares/fair_shares.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

namespace navtalk {
namespace {

using Members = std::vector<std::size_t>;

// Raises all by weight until their demand is met; returns what it gave.
double fill(double capacity, Members members, std::span<const ShareClaim> claims,
            std::vector<double>& shares) {
  std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
    return claims[a].demand / claims[a].weight < claims[b].demand / claims[b].weight;
  });
  double weights = 0, left = capacity;
  for (const std::size_t i : members) weights += claims[i].weight;
  for (const std::size_t i : members) {
    const double part = claims[i].weight >= weights ? left : left * claims[i].weight / weights;
    shares[i] = std::clamp(claims[i].demand, 0.0, std::max(part, 0.0));
    left -= shares[i];
    weights -= claims[i].weight;
  }
  return capacity - left;
}

}  // namespace

std::vector<double> fair_shares(double capacity, std::span<const ShareClaim> claims) {
  std::map<int, Members, std::greater<>> plans;
  for (std::size_t i = 0; i < claims.size(); ++i) plans[claims[i].plan].push_back(i);
  std::vector<double> shares(claims.size());
  double left = std::max(capacity, 0.0);
  for (auto plan = plans.begin(); plan != plans.end(); ++plan) {
    double lower = 0;  // demand of the plans below
    for (auto below = std::next(plan); below != plans.end(); ++below) {
      for (const std::size_t i : below->second) lower += claims[i].demand;
    }
    left -= fill(left - std::min(k_floor * left, lower), plan->second, claims, shares);
  }
  return shares;
}

}  // namespace navtalk
