#include "scheduler/pool/scaling_limits.h"

#include <array>

namespace navtalk {
namespace {

constexpr std::array<std::string_view, 2> k_policies = {"static", "adaptive"};
constexpr std::array<std::string_view, 3> k_switches = {"off", "on", "auto"};

template <class Enum, std::size_t count>
std::optional<Enum> find(const std::array<std::string_view, count>& names, std::string_view text) {
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(ScalingPolicy policy) {
  return k_policies.at(static_cast<std::size_t>(policy));
}
std::optional<ScalingPolicy> parse_scaling_policy(std::string_view text) {
  return find<ScalingPolicy>(k_policies, text);
}

std::string_view name(CloudSwitch cloud) { return k_switches.at(static_cast<std::size_t>(cloud)); }
std::optional<CloudSwitch> parse_cloud_switch(std::string_view text) {
  return find<CloudSwitch>(k_switches, text);
}

}  // namespace navtalk
