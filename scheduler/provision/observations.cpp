#include "scheduler/provision/observations.h"

#include <nlohmann/json.hpp>

namespace navtalk {

using nlohmann::json;

std::string as_text(const Sightings& sightings) {
  json record = {{"orphans", json::object()},
                 {"absences", json::object()},
                 {"strangers", sightings.strangers},
                 {"replaced", json::array()}};
  for (const auto& [id, seen] : sightings.orphans) {
    record["orphans"][id] = {{"first_us", seen.first.time_since_epoch().count()},
                             {"times", seen.times}};
  }
  for (const auto& [id, times] : sightings.absences) record["absences"][id.text] = times;
  for (const GpuId& id : sightings.replaced) record["replaced"].push_back(id.text);
  // Names come from the provider and may be anything.
  return record.dump(-1, ' ', true, json::error_handler_t::replace);
}

Sightings parse_sightings(const std::optional<std::string>& text) {
  const json record = text ? json::parse(*text, nullptr, false) : json();
  if (!record.is_object()) return {};
  Sightings sightings;
  try {
    for (const auto& [id, seen] : record.at("orphans").items()) {
      sightings.orphans[id] = {TimePoint(Duration(seen.at("first_us").get<std::int64_t>())),
                               seen.at("times").get<int>()};
    }
    for (const auto& [id, times] : record.at("absences").items()) {
      sightings.absences[{id}] = times.get<int>();
    }
    sightings.strangers = record.at("strangers").get<std::set<std::string>>();
    for (const auto& id : record.value("replaced", std::set<std::string>()))
      sightings.replaced.insert({id});
  } catch (const json::exception&) {
    return {};  // another version's: everything is seen for the first time
  }
  return sightings;
}

}  // namespace navtalk
