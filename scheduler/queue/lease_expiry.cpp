#include "scheduler/queue/lease_expiry.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/sleep.h"
#include "core/process/identity.h"
#include "scheduler/pool/settings.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr Duration k_shortest_gap = std::chrono::seconds(5);  // a slow watcher is not an absent one
constexpr Duration k_shortest_grace = std::chrono::seconds(2);
constexpr Duration k_unwatched = std::chrono::minutes(10);
// A gateway that could not renew for a whole lease retries every second, so a minute is enough for it.
constexpr Duration k_longest_stay = std::chrono::minutes(1);
constexpr Duration k_check_every = std::chrono::seconds(1);

struct Watch {
  TimePoint last{};   // the last mark
  TimePoint since{};  // the first mark of the series without a gap
};

std::optional<Watch> parse_watch(std::string_view text) {
  const json record = json::parse(text, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  const auto time = [&](const char* name) {
    return TimePoint(Duration(record.value(name, std::int64_t{0})));
  };
  return Watch{.last = time("last_us"), .since = time("since_us")};
}

std::string as_text(const Watch& watch) {
  return json{{"last_us", watch.last.time_since_epoch().count()},
              {"since_us", watch.since.time_since_epoch().count()}}
      .dump();
}

constexpr Setting<Watch> k_watch{setting_name::k_expiry_watch, as_text, parse_watch};

Duration grace_of(Duration lease) { return std::max<Duration>(lease / 2, k_shortest_grace); }

// Leaves a mark. Has the store been watched without a gap for `grace`, so that every living gateway
// could have renewed?
bool watched(PoolStore& store, Duration lease, Duration grace) {
  const Duration gap = std::max<Duration>(lease / 3, k_shortest_gap);
  const auto before = k_watch.look_up(store);
  const TimePoint now = store.now();
  Watch watch = before.value.value_or(Watch{});
  const bool broken = now < watch.last || now - watch.last >= gap;
  if (broken) watch.since = now;
  if (broken || now - watch.last >= gap * 2 / 5) {
    watch.last = now;
    if (!k_watch.replace(store, before, watch)) return false;
  }
  return now - watch.since >= grace;
}

// Stale waiters do not matter here: they are passed over, and removed together with the next stale
// lease or by the next gateway.
bool any_lease_is_stale(PoolStore& store) {
  const std::vector<Lease> leases = store.leases();
  const TimePoint now = store.now();
  return std::any_of(leases.begin(), leases.end(),
                     [&](const Lease& lease) { return lease.until <= now; });
}

std::vector<Lease> expire_those_of_dead_processes(PoolStore& store) {
  std::map<std::string, bool> known;
  const auto dead = [&](const std::string& gateway) {
    const auto [entry, fresh] = known.try_emplace(gateway, false);
    if (fresh) entry->second = is_dead(gateway);
    return entry->second;
  };
  std::vector<Lease> ended;
  for (const Lease& lease : store.leases()) {
    if (dead(lease.gateway) && store.release(lease.id, lease.epoch)) ended.push_back(lease);
  }
  for (const Waiter& waiter : store.waiters()) {
    if (dead(waiter.claimant.gateway)) store.leave(waiter.claimant.id);
  }
  return ended;
}

}  // namespace

std::vector<Lease> expire_stale(PoolStore& store, Duration lease) {
  std::vector<Lease> ended = expire_those_of_dead_processes(store);
  if (!watched(store, lease, grace_of(lease))) return ended;
  for (Lease& stale : store.expire()) ended.push_back(std::move(stale));
  return ended;
}

std::vector<Lease> expire_stale_if_unwatched(PoolStore& store, Duration lease,
                                             const std::stop_token& stop) {
  const Watch watch = k_watch.read(store).value_or(Watch{});
  const Duration since = store.now() - watch.last;
  const bool others_watch = since >= Duration{} && since < k_unwatched;
  if (others_watch || !any_lease_is_stale(store)) return {};
  while (!watched(store, lease, std::min(grace_of(lease), k_longest_stay))) {
    if (!sleep_for(k_check_every, stop)) return {};
  }
  return store.expire();
}

}  // namespace navtalk
