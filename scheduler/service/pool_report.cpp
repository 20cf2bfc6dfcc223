#include "scheduler/service/pool_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/rfc3339.h"
#include "scheduler/pool/faults/session_verdict.h"
#include "scheduler/pool/settings.h"
#include "scheduler/provision/clouds/several_clouds.h"
#include "scheduler/provision/hosts.h"
#include "scheduler/provision/supply.h"

namespace navtalk {
namespace {

using nlohmann::ordered_json;

constexpr Duration k_recent_ticks = std::chrono::minutes(10);
constexpr Duration k_day = std::chrono::hours(24);
constexpr Duration k_ticks = std::chrono::hours(1);  // are looked at
constexpr Duration k_soon = std::chrono::minutes(1);

// What the spans cost within the last day.
double spent(const std::vector<PaidSpan>& ledger, TimePoint now) {
  double usd = 0;
  for (const PaidSpan& span : ledger) {
    const TimePoint from = std::max(span.from, now - k_day);
    const TimePoint to = std::min(span.to.value_or(now), now);
    if (to > from) usd += span.usd_per_hour * in_seconds(to - from) / 3600;
  }
  return usd;
}

std::optional<Headroom> recent_headroom(PoolStore& store, TimePoint now) {
  const Setting<Headroom> setting{setting_name::k_headroom, as_text, parse_headroom};
  const std::optional<Headroom> known = setting.read(store);
  return known && now - known->at < k_recent_ticks ? known : std::nullopt;
}

ByOrigin<bool> broken_origins(PoolStore& store, TimePoint now) {
  ByOrigin<bool> broken;
  const auto faults = k_session_faults.read(store);
  if (!faults || faults->all().empty()) return broken;
  const std::vector<LastedSession> living = living_sessions(store);
  for (const Origin origin : k_origins) {
    broken[origin] = sessions_break(*faults, origin, living, now, {});
  }
  return broken;
}

// Without what has ended since the scaler wrote it.
TimetableState timetable_now(PoolStore& store) {
  TimetableState state = k_timetable_state.read(store).value_or(TimetableState{});
  const TimePoint now = Timetable::system_clock_now();
  if (state.schedule && state.schedule->until <= now) state.schedule.reset();
  std::erase_if(state.maintenance, [&](const ActiveEntry& entry) { return entry.until <= now; });
  return state;
}

PoolTotals count(PoolStore& store, const PoolReport& report) {
  const PoolView& view = report.view;
  PoolTotals totals{.gpus = static_cast<int>(view.gpus.size()),
                    .waiting = static_cast<int>(view.waiters.size())};
  for (const Gpu& gpu : view.gpus) {
    totals.slots += gpu.slots;
    totals.sessions += gpu.sessions;
    const bool free = claimable(gpu, gpu.dedicated_to) && supervised(report, gpu);
    if (free) totals.free_slots += gpu.free_slots();
    if (silent(gpu)) ++totals.silent[origin_of(gpu)];
    ++totals.by_state.at(static_cast<std::size_t>(gpu.state));
    if (gpu.state != State::paused) totals.usd_per_hour += gpu.usd_per_hour;
  }
  totals.usd_last_day = spent(store.ledger(view.now - k_day), view.now);
  std::vector<TimePoint> ticks;
  for (const Decision& decision : store.decisions(view.now - k_ticks)) {
    if (decision.shadow) continue;
    totals.decision = decision;
    ticks.push_back(decision.at);
  }
  totals.stale = ticks_are_overdue(ticks, view.now) && (totals.gpus > 0 || totals.waiting > 0);
  totals.headroom = recent_headroom(store, view.now);
  totals.cloud = cloud_switched_on(store);
  totals.outages = read_outages(store);
  totals.sessions_break = broken_origins(store, view.now);
  if (const auto pause = creation_pause(store)) totals.creation_paused = pause->why;
  totals.timetable = timetable_now(store);
  return totals;
}

std::string time_text(TimePoint time) {
  return rfc3339(std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

template <class T>
ordered_json number_or_null(const std::optional<T>& number) {
  return number ? ordered_json(*number) : ordered_json();
}

// Under the names that a worker's health has for it.
ordered_json reading_or_null(const PoolReport& report, const Gpu& gpu) {
  const std::optional<GpuReading> reading = current_reading(gpu, report.view.now);
  if (!reading) return {};
  return {{"vram_total", reading->memory_total},
          {"vram_used", reading->memory_used},
          {"util", number_or_null(load_ratio(*reading))},
          {"temperature_c", number_or_null(reading->temperature_c)},
          {"at", time_text(on_the_wall(report, reading->at))}};
}

ordered_json as_json(const Headroom& headroom) {
  return {{"deviations", headroom.used.deviations},
          {"shape", headroom.used.shape},
          {"trust", headroom.used.trust},
          {"users", headroom.users},
          {"rushes", headroom.bursts}};
}

ordered_json as_json(const PoolTotals& totals, Duration wall) {
  ordered_json states;
  for (int code = 0; code < k_states; ++code) {
    states[std::string(name(static_cast<State>(code)))] =
        totals.by_state.at(static_cast<std::size_t>(code));
  }
  ordered_json object = {{"gpus", totals.gpus},
                         {"states", states},
                         {"slots", totals.slots},
                         {"sessions", totals.sessions},
                         {"free_slots", totals.free_slots},
                         {"waiting", totals.waiting},
                         {"usd_per_hour", totals.usd_per_hour},
                         {"usd_last_day", totals.usd_last_day},
                         {"cloud", totals.cloud}};
  if (totals.decision) {
    object["policy"] = totals.decision->policy;
    object["target"] = totals.decision->target;
  }
  object["headroom"] = totals.headroom ? as_json(*totals.headroom) : ordered_json();
  const auto& last = totals.decision;
  object["last_tick"] = last ? ordered_json(time_text(last->at + wall)) : ordered_json();
  object["stale"] = totals.stale;
  object["creation_paused"] = text_or_null(totals.creation_paused);
  const auto entry = [](const ActiveEntry& one) -> ordered_json {
    return {{"name", one.name}, {"until", time_text(one.until)}};
  };
  const auto& schedule = totals.timetable.schedule;
  object["schedule"] = schedule ? entry(*schedule) : ordered_json();
  object["maintenance"] = ordered_json::array();
  for (const ActiveEntry& one : totals.timetable.maintenance) {
    object["maintenance"].push_back(entry(one));
  }
  object["outages"] = ordered_json::array();
  int silent = 0;
  for (const Origin origin : k_origins) {
    silent += totals.silent[origin];
    if (totals.outages[origin].on) object["outages"].push_back(name(origin));
  }
  object["silent"] = silent;
  object["sessions_break"] = ordered_json::array();
  for (const Origin origin : k_origins) {
    if (totals.sessions_break[origin]) object["sessions_break"].push_back(name(origin));
  }
  return object;
}

}  // namespace

PoolReport report_pool(PoolStore& store) {
  PoolReport report{.view = store.view()};
  for (const Host& host : live_hosts(store)) report.hosts.insert(host.name);
  report.totals = count(store, report);
  const auto wall = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  report.wall = wall - report.view.now;
  return report;
}

bool supervised(const PoolReport& report, const Gpu& gpu) {
  return gpu.source != Source::local || gpu.host.empty() || report.hosts.contains(gpu.host);
}

bool ticks_are_overdue(const std::vector<TimePoint>& ticks, TimePoint now) {
  if (ticks.empty()) return true;
  if (now - ticks.back() <= k_soon) return false;
  if (ticks.size() == 1) return false;  // who knows when the next one is due
  // By the last few: who ticks may have changed.
  const std::size_t pauses = std::min<std::size_t>(3, ticks.size() - 1);
  const Duration usual = (ticks.back() - *(ticks.end() - 1 - static_cast<std::ptrdiff_t>(pauses))) /
                         static_cast<std::ptrdiff_t>(pauses);
  return now - ticks.back() > 3 * usual;
}

TimePoint on_the_wall(const PoolReport& report, TimePoint time) { return time + report.wall; }

ordered_json as_json(const PoolReport& report, const Gpu& gpu) {
  ordered_json object = {
      {"id", gpu.id.text},
      {"provider", name(origin_of(gpu))},
      {"state", name(gpu.state)},
      {"code", static_cast<int>(gpu.state)},
      {"draining", gpu.draining},
      {"slots", gpu.slots},
      {"sessions", gpu.sessions},
      {"lent", gpu.lent},
      {"dedicated_to", text_or_null(gpu.dedicated_to.text)},
      {"usd_per_hour", gpu.usd_per_hour},
      {"since", time_text(on_the_wall(report, gpu.since))},
      {"age_s", in_seconds(report.view.now - gpu.created_at)},
      {"last_error", text_or_null(gpu.last_error)},
      {"device", text_or_null(gpu.device)},
      {"host", text_or_null(gpu.host)},
      {"supervised", supervised(report, gpu)},
      {"url", text_or_null(gpu.url)},
      {"provider_id", text_or_null(gpu.provider_id)},
      {"name", gpu.name},
  };
  const bool asked = gpu.intent.operation != Operation::none;
  object["operation"] = asked ? ordered_json(name(gpu.intent.operation)) : ordered_json();
  const bool seen = gpu.seen_at > TimePoint{};
  object["seen"] =
      seen ? ordered_json(time_text(on_the_wall(report, gpu.seen_at))) : ordered_json();
  object["gpu"] = reading_or_null(report, gpu);
  return object;
}

ordered_json as_json(const PoolReport& report) {
  ordered_json gpus = ordered_json::array();
  for (const Gpu& gpu : report.view.gpus) gpus.push_back(as_json(report, gpu));
  return {{"gpus", std::move(gpus)}, {"totals", as_json(report.totals, report.wall)}};
}

ordered_json as_json(const PoolEvent& event) {
  const auto state = [](const std::optional<State>& of) {
    return of ? ordered_json(name(*of)) : ordered_json();
  };
  return {{"number", event.number},    {"at", time_text(event.at)}, {"gpu", event.gpu.text},
          {"from", state(event.from)}, {"to", state(event.to)},     {"who", event.who},
          {"why", event.why}};
}

}  // namespace navtalk
