#include "scheduler/jobs/shares/fair_shares.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

namespace navtalk {
namespace {

using Members = std::vector<std::size_t>;

// A tenant is filled from what it has had up to its demand above that. By weight: at these levels it begins and ends.
struct Edge {
  double level = 0;
  double weight = 0;  // below zero: it ends
};

std::vector<Edge> edges_of(const Members& members, std::span<const ShareClaim> claims) {
  std::vector<Edge> edges;
  for (const std::size_t i : members) {
    const ShareClaim& claim = claims[i];
    edges.push_back({claim.had / claim.weight, claim.weight});
    edges.push_back({(claim.had + claim.demand) / claim.weight, -claim.weight});
  }
  std::ranges::sort(edges, {}, &Edge::level);
  return edges;
}

// To which the capacity fills them; it is less than they demand.
double level_of(double capacity, const std::vector<Edge>& edges) {
  double level = edges.front().level, weights = 0;
  for (const Edge& edge : edges) {
    const double more = weights > 0 ? weights * (edge.level - level) : 0;
    if (more >= capacity && weights > 0) break;
    capacity -= more;
    level = edge.level;
    weights += edge.weight;
  }
  return weights > 0 ? level + capacity / weights : level;
}

// Raises all by weight until their demand is met; returns what it gave.
double fill(double capacity, const Members& members, std::span<const ShareClaim> claims,
            std::vector<double>& shares) {
  double demand = 0, given = 0;
  for (const std::size_t i : members) demand += claims[i].demand;
  const bool all = demand <= capacity;
  const double level = all ? 0 : level_of(capacity, edges_of(members, claims));
  for (const std::size_t i : members) {
    const ShareClaim& claim = claims[i];
    const double filled = level * claim.weight - claim.had;
    shares[i] = all ? claim.demand : std::clamp(filled, 0.0, claim.demand);
    given += shares[i];
  }
  return std::min(given, capacity);
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
