#include "scheduler/provision/spending.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "scheduler/pool/scaling_limits.h"
#include "scheduler/pool/settings.h"
#include "scheduler/pool/update_row.h"
#include "scheduler/provision/price.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr Duration k_remembered_for = std::chrono::hours(1);

struct SeenPrice {
  double usd_per_hour = 0;
  TimePoint until{};
};
using SeenPrices = std::map<std::string, SeenPrice>;  // by device

std::string as_text(const SeenPrices& prices) {
  json record = json::object();
  for (const auto& [device, seen] : prices) {
    record[device] = {{"usd", seen.usd_per_hour},
                      {"until_us", seen.until.time_since_epoch().count()}};
  }
  return record.dump(-1, ' ', true, json::error_handler_t::replace);
}

std::optional<SeenPrices> parse_seen_prices(std::string_view text) {
  const json record = json::parse(text, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  SeenPrices prices;
  for (const auto& [device, seen] : record.items()) {
    if (!seen.is_object()) return std::nullopt;
    prices[device] = {seen.value("usd", 0.0),
                      TimePoint(Duration(seen.value("until_us", std::int64_t{0})))};
  }
  return prices;
}

constexpr Setting<SeenPrices> k_prices{setting_name::k_prices, as_text, parse_seen_prices};

// What the cap leaves for that row beside the others, as the store counts them.
double budget_for(PoolStore& store, const Gpu& gpu, double max_usd_per_hour, bool exists) {
  double left = max_usd_per_hour;
  for (const Gpu& other : store.view().gpus) {
    const bool counts = other.state != State::paused && !(exists && other.state == State::stopping);
    if (other.id != gpu.id && counts) left -= other.usd_per_hour;
  }
  return left;
}

}  // namespace

bool reserve_price(PoolStore& store, const Gpu& gpu, double usd_per_hour, double max_usd_per_hour) {
  const Cause cause{gpu.intent.owner, "reserve its price"};
  const auto reserved =
      update_row(store, gpu.id, cause, [&](const Gpu& row) -> std::optional<GpuChange> {
        const bool same =
            row.intent.number == gpu.intent.number && row.intent.owner == gpu.intent.owner;
        const double budget = budget_for(store, row, max_usd_per_hour, false);
        if (!same || usd_per_hour > budget + k_rounding_usd) return std::nullopt;
        return GpuChange{.usd_per_hour = usd_per_hour, .max_usd_per_hour = max_usd_per_hour};
      });
  return reserved.has_value();
}

bool hold_to_cap(PoolStore& store, const Gpu& row, double max_usd_per_hour, GpuChange& change) {
  const double usd = change.usd_per_hour.value_or(0);
  if (max_usd_per_hour <= 0 || usd <= 0 || !next(row.state, Event::destroy)) return false;
  const double budget = budget_for(store, row, max_usd_per_hour, true);
  if (usd <= budget + k_rounding_usd) {
    change.max_usd_per_hour = max_usd_per_hour;
    return false;
  }
  change.event = Event::destroy;
  change.intent = next_intent(row, Operation::destroy, store.now());
  change.last_error = fmt::format(
      "costs {:.2f} USD per hour, but pool.max_usd_per_hour leaves {:.2f}: destroyed again", usd,
      std::max(budget, 0.0));
  return true;
}

bool record_price(PoolStore& store, const GpuId& id, const Instance& instance, const Cause& cause) {
  const std::optional<double> usd = known_price(instance);
  if (!usd) return false;
  double before = 0;
  const auto after = update_row(store, id, cause, [&](const Gpu& row) -> std::optional<GpuChange> {
    const bool same = !(row.usd_per_hour < *usd) && !(row.usd_per_hour > *usd);
    if (row.provider_id != instance.provider_id || same) return std::nullopt;
    before = row.usd_per_hour;
    return GpuChange{.usd_per_hour = usd, .paid_since = unpaid_since(store, row)};
  });
  if (!after) return false;
  const std::string& type = after->device.empty() ? instance.device : after->device;
  if (before > 0 && *usd > before && !type.empty()) remember_price(store, type, *usd);
  return true;
}

void remember_price(PoolStore& store, const std::string& device, double usd_per_hour) {
  const TimePoint now = store.now();
  k_prices.update(store, [&](SeenPrices& prices) {
    std::erase_if(prices, [&](const auto& entry) { return entry.second.until <= now; });
    prices[device] = {usd_per_hour, now + k_remembered_for};
  });
}

double remembered_price(PoolStore& store, const std::string& device) {
  const std::optional<SeenPrices> prices = k_prices.read(store);
  if (!prices) return 0;
  const auto seen = prices->find(device);
  return seen != prices->end() && seen->second.until > store.now() ? seen->second.usd_per_hour : 0;
}

}  // namespace navtalk
