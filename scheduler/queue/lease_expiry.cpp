#include "scheduler/queue/lease_expiry.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/process/identity.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr std::string_view k_setting = "silence.watch";
constexpr Duration k_shortest_gap = std::chrono::seconds(5);  // slow is not away
constexpr Duration k_shortest_chance = std::chrono::seconds(2);
constexpr Duration k_unwatched = std::chrono::minutes(10);
// Who could not renew for a whole lease tries every second: it needs no half of a long one.
constexpr Duration k_longest_stay = std::chrono::minutes(1);
constexpr Duration k_look_again = std::chrono::seconds(1);

struct Watch {
  TimePoint last{};   // somebody looked
  TimePoint since{};  // without a gap before it
};

Watch parse(const std::optional<std::string>& text) {
  const json record = text ? json::parse(*text, nullptr, false) : json();
  if (!record.is_object()) return {};
  const auto time = [&](const char* name) {
    return TimePoint(Duration(record.value(name, std::int64_t{0})));
  };
  return {.last = time("last_us"), .since = time("since_us")};
}

std::string as_text(const Watch& watch) {
  return json{{"last_us", watch.last.time_since_epoch().count()},
              {"since_us", watch.since.time_since_epoch().count()}}
      .dump();
}

Duration chance_of(Duration lease) { return std::max<Duration>(lease / 2, k_shortest_chance); }

// Has the store been watched for so long without a gap that every living gateway had its chance?
bool watched(PoolStore& store, Duration lease, Duration chance) {
  const Duration gap = std::max<Duration>(lease / 3, k_shortest_gap);
  const std::optional<std::string> before = store.setting(k_setting);
  const TimePoint now = store.now();
  Watch watch = parse(before);
  const bool broken = now < watch.last || now - watch.last >= gap;
  if (broken) watch.since = now;
  if (broken || now - watch.last >= gap * 2 / 5) {
    watch.last = now;
    if (!store.swap_setting(k_setting, before, as_text(watch))) return false;
  }
  return now - watch.since >= chance;
}

// Silent places in the queue count for nothing; they are forgotten with the next lease, or by the
// next gateway.
bool any_lease_is_silent(PoolStore& store) {
  const std::vector<Lease> leases = store.leases();
  const TimePoint now = store.now();
  return std::any_of(leases.begin(), leases.end(),
                     [&](const Lease& lease) { return lease.until <= now; });
}

std::vector<Lease> end_those_of_the_dead(PoolStore& store) {
  std::map<std::string, bool> known;
  const auto is_dead = [&](const std::string& gateway) {
    const auto [entry, fresh] = known.try_emplace(gateway, false);
    if (fresh) entry->second = surely_dead(gateway);
    return entry->second;
  };
  std::vector<Lease> ended;
  for (const Lease& lease : store.leases()) {
    if (is_dead(lease.gateway) && store.release(lease.id, lease.epoch)) ended.push_back(lease);
  }
  for (const Waiter& waiter : store.view().waiters) {
    if (is_dead(waiter.claimant.gateway)) store.leave(waiter.claimant.id);
  }
  return ended;
}

}  // namespace

std::vector<Lease> end_silent(PoolStore& store, Duration lease) {
  std::vector<Lease> ended = end_those_of_the_dead(store);
  if (!watched(store, lease, chance_of(lease))) return ended;
  for (Lease& silent : store.expire()) ended.push_back(std::move(silent));
  return ended;
}

std::vector<Lease> end_silent_if_unwatched(PoolStore& store, Duration lease,
                                           const std::stop_token& stop) {
  const Watch watch = parse(store.setting(k_setting));
  const Duration since = store.now() - watch.last;
  const bool others_look = since >= Duration{} && since < k_unwatched;
  if (others_look || !any_lease_is_silent(store)) return {};
  std::mutex mutex;
  std::condition_variable_any asked;
  std::unique_lock lock(mutex);
  while (!watched(store, lease, std::min(chance_of(lease), k_longest_stay))) {
    asked.wait_for(lock, stop, k_look_again, [] { return false; });
    if (stop.stop_requested()) return {};
  }
  return store.expire();
}

}  // namespace navtalk
