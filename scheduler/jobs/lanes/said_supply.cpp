#include "scheduler/jobs/lanes/said_supply.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scheduler/pool/settings.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

std::string supply_text(const LaneSupply& supply) {
  const nlohmann::json record = {{"ready", supply.ready},
                                 {"starting", supply.starting},
                                 {"most", supply.most},
                                 {"cold_start_us", supply.cold_start.count()},
                                 {"replacement_us", supply.replacement.count()},
                                 {"prior_rate", supply.prior_rate},
                                 {"next_us", supply.next_at.time_since_epoch().count()}};
  return record.dump();
}

std::optional<LaneSupply> parse_supply(std::string_view text) {
  const nlohmann::json record = nlohmann::json::parse(text, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  const auto duration = [&](const char* name) {
    return Duration(record.value(name, std::int64_t{0}));
  };
  return LaneSupply{.ready = record.value("ready", 0),
                    .starting = record.value("starting", 0),
                    .most = record.value("most", 0),
                    .cold_start = duration("cold_start_us"),
                    .replacement = duration("replacement_us"),
                    .prior_rate = record.value("prior_rate", 0.0),
                    .next_at = TimePoint(duration("next_us"))};
}

constexpr Setting<LaneSupply> k_supply{setting_name::k_lane_supply, supply_text, parse_supply};

// On a CPU a worker says nothing of a GPU. A cloud has GPUs.
bool renders_on_cpu(const Gpu& gpu) {
  if (gpu.source == Source::cloud) return false;
  return gpu.device.empty() ? gpu.reading.at == TimePoint{} : gpu.device == "cpu";
}

bool serves_now(const Gpu& gpu) { return shared(gpu) && gpu.serving() && !silent(gpu); }

// Of the slots that serve or start; without any by where they would be started.
double prior_rate_of(std::span<const Gpu> gpus, Source grows_at) {
  double slots = 0, rates = 0;
  for (const Gpu& gpu : gpus) {
    if (!shared(gpu) || (!serves_now(gpu) && gpu.state != State::starting)) continue;
    slots += gpu.slots;
    rates += gpu.slots * (renders_on_cpu(gpu) ? k_cpu_prior_rate : k_gpu_prior_rate);
  }
  if (slots > 0) return rates / slots;
  for (const Gpu& gpu : gpus)  // paused, say
    if (shared(gpu) && !gpu.device.empty())
      return renders_on_cpu(gpu) ? k_cpu_prior_rate : k_gpu_prior_rate;
  return grows_at == Source::cloud ? k_gpu_prior_rate : k_cpu_prior_rate;
}

// Of workers of which none serves or starts.
Duration replacement_of(std::span<const Gpu> gpus, Duration start, Duration failed_hold) {
  Duration hold{};
  for (const Gpu& gpu : gpus) {
    if (!shared(gpu)) continue;
    if (serves_now(gpu) || gpu.state == State::starting) return {};
    if (gpu.state == State::failed || gpu.serving()) hold = failed_hold;
  }
  return hold + start;
}

}  // namespace

int left_by_users(std::span<const Gpu> gpus, int own) {
  int left = -own;
  for (const Gpu& gpu : gpus) {
    const bool comes = gpu.state == State::starting || (gpu.serving() && !silent(gpu));
    if (!comes || !shared(gpu)) continue;
    left += gpu.slots - (gpu.sessions - gpu.lent);
  }
  return std::max(left, 0);
}

LaneSupply supply_of(std::span<const Gpu> gpus, const Demand& learnt, Source grows_at,
                     const LaneLimits& limits) {
  LaneSupply supply{
      .most = std::max(left_by_users(gpus, limits.own) - limits.keep_free, 0) + limits.max_gpus,
      .cold_start = learnt.create_at(grows_at).p90,
      .prior_rate = prior_rate_of(gpus, grows_at)};
  supply.replacement = replacement_of(gpus, supply.cold_start, limits.failed_hold);
  for (const Gpu& gpu : gpus) {
    if (!shared(gpu)) continue;
    if (serves_now(gpu)) supply.ready += gpu.slots - (gpu.sessions - gpu.lent);
    if (gpu.state != State::starting) continue;
    const LeadTime& lead =
        being_woken(gpu) ? learnt.wake_at(gpu.source) : learnt.create_at(gpu.source);
    const TimePoint at = gpu.since + lead.p90;
    supply.next_at = supply.starting == 0 ? at : std::min(supply.next_at, at);
    supply.starting += gpu.slots;
  }
  const int lacking = std::max(limits.keep_free - supply.ready, 0);
  supply.ready = std::max(supply.ready - limits.keep_free, 0);
  supply.starting = std::max(supply.starting - lacking, 0);
  return supply;
}

bool write_lane_supply(PoolStore& store, const LaneSupply& supply, bool times) {
  const auto said = k_supply.read(store);
  const bool same = said && said->ready == supply.ready && said->starting == supply.starting &&
                    said->most == supply.most && said->prior_rate == supply.prior_rate &&
                    (said->replacement > Duration{}) == (supply.replacement > Duration{});
  if (same && (!times || *said == supply)) return false;
  k_supply.write(store, supply);
  return true;
}

LaneSupply read_lane_supply(Transaction& transaction) {
  const auto rows = transaction.db.query("SELECT value FROM settings WHERE name = $1",
                                         {setting_name::k_lane_supply});
  if (!rows->next()) return {};
  return parse_supply(column::text(*rows, 0)).value_or(LaneSupply{});
}

}  // namespace navtalk
