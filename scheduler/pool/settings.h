// The facts that the pool keeps by name (PoolStore::setting), each with its type and its text. The
// names and texts are stored, so those of released versions stay readable.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

namespace setting_name {
inline constexpr std::string_view k_pool_id = "pool.id";                // scheduler/pool/identity.h
inline constexpr std::string_view k_drain_notices = "drain.notices";    // pool/drain_notices.h
inline constexpr std::string_view k_hosts = "hosts";                    // provision/hosts.h
inline constexpr std::string_view k_creation_pause = "creation.pause";  // provision/supply.h
inline constexpr std::string_view k_prices = "prices.seen";             // provision/spending.h
inline constexpr std::string_view k_cloud_switch = "cloud.switch";      // provision/supply.h
inline constexpr std::string_view k_outages = "health.outages";         // pool/faults/outage.h
// One for each list of a provider: "reconciler.runpod", "reconciler.local.HOST".
inline constexpr std::string_view k_observations = "reconciler.";    // provision/reconciler/
inline constexpr std::string_view k_expiry_watch = "silence.watch";  // queue/lease_expiry.h
inline constexpr std::string_view k_session_faults =
    "session.faults";  // pool/faults/session_faults.h
inline constexpr std::string_view k_scaler_memory = "scaler.memory";    // scaling/snapshot.h
inline constexpr std::string_view k_headroom = "scaler.headroom";       // forecast/headroom.h
inline constexpr std::string_view k_webhook_cursor = "webhook.cursor";  // service/event_webhook.h
inline constexpr std::string_view k_offline_demand = "offline.demand";  // pool/offline_demand.h
inline constexpr std::string_view k_lane_supply = "offline.supply";     // jobs/lanes/said_supply.h
// pool/schedule/timetable_state.h
inline constexpr std::string_view k_timetable = "timetable";
inline constexpr std::string_view k_maintenance_drains = "maintenance.drains";
inline constexpr std::string_view k_budget = "budget.";  // and the period: cost/budget.h
}  // namespace setting_name

// One of them: its name, and how a value becomes text and back. Plain; the store is thread-safe.
template <class T>
struct Setting {
  std::string_view name;
  std::string (*as_text)(const T&);
  // nullopt for text that this version cannot read: it counts as not set.
  std::optional<T> (*parse)(std::string_view);

  std::optional<T> read(PoolStore& store) const { return parsed(store.setting(name)); }
  void write(PoolStore& store, const T& value) const { store.set_setting(name, as_text(value)); }

  // The value with the text that it was read from: replace() writes only if that still stands.
  struct Known {
    std::optional<std::string> text{};
    std::optional<T> value{};
  };
  Known look_up(PoolStore& store) const {
    Known known{.text = store.setting(name)};
    known.value = parsed(known.text);
    return known;
  }
  bool replace(PoolStore& store, const Known& known, const T& value) const {
    return store.swap_setting(name, known.text, as_text(value));
  }
  // Reads, changes and writes what has changed; again when another process was quicker. Error{failed} when
  // others write all the time.
  template <class Change>
  void update(PoolStore& store, const Change& change) const {
    constexpr int k_tries = 50;
    for (int i = 0; i < k_tries; ++i) {
      const Known known = look_up(store);
      T value = known.value.value_or(T{});
      const std::string before = as_text(value);
      change(value);
      if (as_text(value) == before || replace(store, known, value)) return;
    }
    throw Error(Code::failed,
                "the pool's setting '" + std::string(name) + "' is changed all the time by others");
  }

 private:
  std::optional<T> parsed(const std::optional<std::string>& text) const {
    return text ? parse(*text) : std::nullopt;
  }
};

}  // namespace navtalk
