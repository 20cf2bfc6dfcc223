#include "scheduler/pool/policy.h"

#include <array>

namespace navtalk {
namespace {

constexpr std::array<std::string_view, 2> k_laws = {"static", "adaptive"};
constexpr std::array<std::string_view, 3> k_switches = {"off", "on", "auto"};

template <class Enum, std::size_t count>
std::optional<Enum> find(const std::array<std::string_view, count>& names, std::string_view text) {
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Law law) { return k_laws.at(static_cast<std::size_t>(law)); }
std::optional<Law> parse_law(std::string_view text) { return find<Law>(k_laws, text); }

std::string_view name(CloudSwitch cloud) { return k_switches.at(static_cast<std::size_t>(cloud)); }
std::optional<CloudSwitch> parse_cloud_switch(std::string_view text) {
  return find<CloudSwitch>(k_switches, text);
}

}  // namespace navtalk
