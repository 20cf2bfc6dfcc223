#include "scheduler/pool/schedule/timetable_state.h"

#include <nlohmann/json.hpp>

namespace navtalk {
namespace {

using nlohmann::json;

json entry_json(const ActiveEntry& entry) {
  return {{"name", entry.name}, {"until_us", entry.until.time_since_epoch().count()}};
}

ActiveEntry parse_entry(const json& record) {
  return {record.at("name").get<std::string>(),
          TimePoint(Duration(record.at("until_us").get<std::int64_t>()))};
}

std::string dump(const json& record) {
  return record.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace

std::string as_text(const TimetableState& state) {
  json record = {{"schedule", state.schedule ? entry_json(*state.schedule) : json()},
                 {"maintenance", json::array()}};
  for (const ActiveEntry& entry : state.maintenance) {
    record["maintenance"].push_back(entry_json(entry));
  }
  return dump(record);
}

std::optional<TimetableState> parse_timetable_state(std::string_view text) {
  try {
    const json record = json::parse(text);
    TimetableState state;
    if (!record.at("schedule").is_null()) state.schedule = parse_entry(record.at("schedule"));
    for (const json& entry : record.at("maintenance")) {
      state.maintenance.push_back(parse_entry(entry));
    }
    return state;
  } catch (const json::exception&) {
    return std::nullopt;  // of another version
  }
}

std::string as_text(const MaintenanceDrains& drains) {
  json list = json::array();
  for (const GpuId& id : drains) list.push_back(id.text);
  return dump(list);
}

std::optional<MaintenanceDrains> parse_maintenance_drains(std::string_view text) {
  try {
    MaintenanceDrains drains;
    for (const json& id : json::parse(text)) drains.push_back({id.get<std::string>()});
    return drains;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace navtalk
