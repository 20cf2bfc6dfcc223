// How unevenly an order of claims serves tenants, as Temporal's tests of fairness measure it: for each
// tenant the place at which its first job stands in the order, summed and divided by the square of the
// number of tenants. Strict turns of n tenants give (n - 1) / (2 n), which is below 0.5; 1.0 and more is
// unfair. Pure.
#pragma once

#include <map>
#include <span>
#include <string>

namespace navtalk {

inline double unfairness(std::span<const std::string> tenants_in_order) {
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < tenants_in_order.size(); ++i) first.emplace(tenants_in_order[i], i);
  double delays = 0;
  for (const auto& [tenant, place] : first) delays += static_cast<double>(place);
  const auto tenants = static_cast<double>(first.size());
  return first.empty() ? 0 : delays / (tenants * tenants);
}

}  // namespace navtalk
