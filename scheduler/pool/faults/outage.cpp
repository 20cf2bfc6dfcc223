#include "scheduler/pool/faults/outage.h"

#include <nlohmann/json.hpp>

#include "scheduler/pool/settings.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr Setting<Outages> k_outages{setting_name::k_outages, as_text, parse_outages};

}  // namespace

std::string as_text(const Outages& outages) {
  json record = json::object();
  for (const Origin origin : k_remote_origins) {
    const Outage& outage = outages[origin];
    record[std::string(name(origin))] = {{"on", outage.on},
                                         {"since_us", outage.since.time_since_epoch().count()}};
  }
  return record.dump();
}

std::optional<Outages> parse_outages(std::string_view text) {
  const json record = json::parse(text, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  Outages outages;
  try {
    for (const Origin origin : k_remote_origins) {
      const auto known = record.find(name(origin));
      if (known == record.end()) continue;  // an older version knew fewer
      outages[origin] = {known->at("on").get<bool>(),
                         TimePoint(Duration(known->at("since_us").get<std::int64_t>()))};
    }
  } catch (const json::exception&) {
    return std::nullopt;  // another version's
  }
  return outages;
}

Outages read_outages(PoolStore& store) { return k_outages.read(store).value_or(Outages{}); }

bool replace_outages(PoolStore& store, const Outages& before, const Outages& after) {
  const auto known = k_outages.look_up(store);
  return known.value.value_or(Outages{}) == before && k_outages.replace(store, known, after);
}

bool cloud_outage(const Outages& outages) {
  return outages[Origin::runpod].on || outages[Origin::kubernetes].on;
}

bool starts_at(const Gpu& gpu, Source source) {
  return gpu.source == source && gpu.state == State::starting;
}

bool may_return(const Gpu& gpu) {
  if (gpu.state != State::failed) return false;
  if (gpu.source == Source::external) return true;
  const bool gone = gpu.source == Source::cloud && gpu.usd_per_hour <= 0;
  return gpu.intent.operation == Operation::none && gpu.misses > 0 && gpu.seen_at > TimePoint{} &&
         !gone;
}

}  // namespace navtalk
