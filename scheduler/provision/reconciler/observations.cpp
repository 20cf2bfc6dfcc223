#include "scheduler/provision/reconciler/observations.h"

#include <nlohmann/json.hpp>

#include "scheduler/pool/settings.h"

namespace navtalk {

using nlohmann::json;

std::string as_text(const Observations& observed) {
  json record = {{"orphans", json::object()},
                 {"absences", json::object()},
                 {"strangers", observed.foreign},
                 {"replaced", json::array()}};
  for (const auto& [id, seen] : observed.orphans) {
    record["orphans"][id] = {{"first_us", seen.first.time_since_epoch().count()},
                             {"times", seen.times}};
  }
  for (const auto& [id, times] : observed.missing) record["absences"][id.text] = times;
  for (const GpuId& id : observed.replaced) record["replaced"].push_back(id.text);
  if (!observed.asked.empty()) record["asked"] = observed.asked;
  // Names come from the provider and may be anything.
  return record.dump(-1, ' ', true, json::error_handler_t::replace);
}

std::optional<Observations> parse_observations(std::string_view text) {
  const json record = json::parse(text, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  Observations observed;
  try {
    for (const auto& [id, seen] : record.at("orphans").items()) {
      observed.orphans[id] = {TimePoint(Duration(seen.at("first_us").get<std::int64_t>())),
                              seen.at("times").get<int>()};
    }
    for (const auto& [id, times] : record.at("absences").items()) {
      observed.missing[{id}] = times.get<int>();
    }
    observed.foreign = record.at("strangers").get<std::set<std::string>>();
    for (const auto& id : record.value("replaced", std::set<std::string>()))
      observed.replaced.insert({id});
    observed.asked = record.value("asked", "");
  } catch (const json::exception&) {
    return std::nullopt;  // another version's
  }
  return observed;
}

std::string observations_setting(Source source, const std::string& host) {
  std::string name_of_list = std::string(setting_name::k_observations) + std::string(name(source));
  return host.empty() ? name_of_list : name_of_list + "." + host;
}

}  // namespace navtalk
