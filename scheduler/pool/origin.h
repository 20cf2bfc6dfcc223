// Where a GPU of the pool comes from, as operators are told and as faults and costs are judged: two
// clouds fail, and cost, apart from each other, though to the scaler both are Source::cloud.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "scheduler/pool/gpu.h"

namespace navtalk {

// Stores keep the numbers, which for the first three are those of Source. cloud: one of the clouds; the
// row's create has no answer yet.
enum class Origin : std::uint8_t { local = 0, external = 1, runpod = 2, kubernetes = 3, cloud = 4 };
inline constexpr std::array k_origins = {Origin::local, Origin::external, Origin::runpod,
                                         Origin::kubernetes, Origin::cloud};
// Those that a fault of the network can cut off as a whole.
inline constexpr std::array k_remote_origins = {Origin::external, Origin::runpod,
                                                Origin::kubernetes};

std::string_view name(Origin origin);
std::optional<Origin> parse_origin(std::string_view text);
Origin origin_of(const Gpu& gpu);
Origin origin_of(Source source, std::string_view provider_id);
bool in_cloud(Origin origin);

// One value for each.
template <class Value>
class ByOrigin {
 public:
  Value& operator[](Origin origin) { return values_.at(static_cast<std::size_t>(origin)); }
  const Value& operator[](Origin origin) const {
    return values_.at(static_cast<std::size_t>(origin));
  }
  friend bool operator==(const ByOrigin&, const ByOrigin&) = default;

 private:
  std::array<Value, k_origins.size()> values_{};
};

}  // namespace navtalk
