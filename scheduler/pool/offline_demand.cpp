#include "scheduler/pool/offline_demand.h"

#include <nlohmann/json.hpp>

namespace navtalk {
namespace {

std::string demand_text(const OfflineDemand& demand) {
  const nlohmann::json record = {{"slots", demand.slots},
                                 {"said_us", demand.said_at.time_since_epoch().count()},
                                 {"worked_us", demand.worked_at.time_since_epoch().count()},
                                 {"needed", demand.needed},
                                 {"sampled_us", demand.sampled_at.time_since_epoch().count()},
                                 {"gap_us", demand.gap.count()}};
  return record.dump();
}

std::optional<OfflineDemand> parse_demand(std::string_view text) {
  const nlohmann::json record = nlohmann::json::parse(text, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  const auto time = [&](const char* name) {
    return TimePoint(Duration(record.value(name, std::int64_t{0})));
  };
  return OfflineDemand{.slots = record.value("slots", 0),
                       .said_at = time("said_us"),
                       .worked_at = time("worked_us"),
                       .needed = record.value("needed", 0.0),
                       .sampled_at = time("sampled_us"),
                       .gap = Duration(record.value("gap_us", std::int64_t{0}))};
}

constexpr Setting<OfflineDemand> k_demand{setting_name::k_offline_demand, demand_text,
                                          parse_demand};

}  // namespace

OfflineDemand read_offline_demand(PoolStore& store) {
  return k_demand.read(store).value_or(OfflineDemand{});
}

void write_offline_demand(PoolStore& store, const OfflineDemand& demand) {
  k_demand.write(store, demand);
}

int wanted_slots(const OfflineDemand& demand, TimePoint now) {
  return now - demand.said_at < k_offline_demand_lasts ? demand.slots : 0;
}

}  // namespace navtalk
