#include "server/gateway/pool_metrics.h"

#include <algorithm>
#include <map>

namespace navtalk::server {
namespace {

constexpr Duration k_recent = std::chrono::hours(1);

void add_headroom(MetricsPage& page, const Headroom& headroom) {
  page.gauge(
      "navtalk_scaler_headroom_deviations",
      "Slots that the adaptive policy keeps above the forecast, as learned from past users, in "
      "standard deviations of the forecast",
      headroom.used.deviations);
  page.gauge("navtalk_scaler_headroom_trust_ratio",
             "Weight of the learned headroom against the normal quantile, 0 to 1",
             headroom.used.trust);
  page.gauge("navtalk_scaler_headroom_users",
             "Users of the last month from whom the headroom was learned", headroom.users);
  page.gauge("navtalk_scaler_headroom_rushes",
             "Bursts of the last month that no forecast predicted", headroom.bursts);
}

// GPUs of one provider that have a current reading.
struct ProviderUse {
  double memory_used = 0, memory_total = 0;  // bytes
  int gpus = 0, with_load = 0;
  double load = 0;  // sum
  std::optional<int> hottest{};

  void add(const GpuReading& reading) {
    ++gpus;
    memory_used += static_cast<double>(reading.memory_used);
    memory_total += static_cast<double>(reading.memory_total);
    if (const auto ratio = load_ratio(reading)) {
      ++with_load;
      load += *ratio;
    }
    if (reading.temperature_c)
      hottest = std::max(hottest.value_or(*reading.temperature_c), *reading.temperature_c);
  }
};

// What no GPU tells is left out: a zero would be a measurement.
void add_use(MetricsPage& page, const PoolView& view) {
  ByOrigin<ProviderUse> uses;
  for (const Gpu& gpu : view.gpus) {
    if (const auto reading = current_reading(gpu, view.now)) uses[origin_of(gpu)].add(*reading);
  }
  for (const Origin origin : k_origins) {
    const ProviderUse& use = uses[origin];
    if (use.gpus == 0) continue;
    const MetricLabels labels = {{"provider", std::string(name(origin))}};
    page.gauge("navtalk_pool_measured_gpus",
               "GPUs in use whose memory is known, by provider; not those that are a CPU", use.gpus,
               labels);
    page.gauge("navtalk_pool_gpu_memory_used_bytes",
               "Memory in use of all measured GPUs, by provider, in bytes", use.memory_used,
               labels);
    page.gauge("navtalk_pool_gpu_memory_total_bytes",
               "Memory of all measured GPUs, by provider, in bytes", use.memory_total, labels);
    if (use.with_load > 0)
      page.gauge("navtalk_pool_gpu_load_ratio",
                 "Share of the last moments in which a GPU computed, 0 to 1: the mean by provider",
                 use.load / use.with_load, labels);
    if (use.hottest)
      page.gauge("navtalk_pool_gpu_temperature_celsius",
                 "Temperature of the hottest GPU, by provider, in degrees Celsius", *use.hottest,
                 labels);
  }
}

void add_pool(MetricsPage& page, const PoolReport& report) {
  std::map<std::pair<Origin, State>, int> gpus;
  for (const Origin origin : k_origins) {
    for (int state = 0; state < k_states; ++state) gpus[{origin, static_cast<State>(state)}] = 0;
  }
  for (const Gpu& gpu : report.view.gpus) ++gpus[{origin_of(gpu), gpu.state}];
  for (const auto& [key, count] : gpus) {
    page.gauge(
        "navtalk_pool_gpus", "GPUs by provider and state", count,
        {{"provider", std::string(name(key.first))}, {"state", std::string(name(key.second))}});
  }
  add_use(page, report.view);
  const PoolTotals& totals = report.totals;
  for (const Origin origin : k_origins) {
    if (origin == Origin::cloud) continue;  // none of its GPUs has a worker
    const MetricLabels labels = {{"provider", std::string(name(origin))}};
    page.gauge("navtalk_pool_silent_gpus",
               "GPUs in use that have missed three probes or more, by provider",
               totals.silent[origin], labels);
    page.gauge("navtalk_pool_sessions_break",
               "1 while sessions break on most GPUs of the provider, whose workers answer well",
               totals.sessions_break[origin] ? 1 : 0, labels);
    if (origin == Origin::local) continue;
    page.gauge(
        "navtalk_pool_outage",
        "1 while most GPUs of the provider do not answer, so that none is failed or destroyed",
        totals.outages[origin].on ? 1 : 0, labels);
  }
  page.gauge("navtalk_pool_slots", "Slots of all GPUs, taken and free", totals.slots);
  page.gauge("navtalk_pool_free_slots", "Slots that can be claimed now", totals.free_slots);
  page.gauge("navtalk_pool_sessions", "Sessions that hold a slot", totals.sessions);
  page.gauge("navtalk_queue_depth", "Users who wait for a slot", totals.waiting);
  page.gauge("navtalk_pool_usd_per_hour",
             "Price of all GPUs that cost money now, in dollars per hour", totals.usd_per_hour);
  page.gauge("navtalk_pool_usd_last_day", "Cost of all GPUs in the last 24 hours, in dollars",
             totals.usd_last_day);
  if (totals.headroom) add_headroom(page, *totals.headroom);
  page.gauge("navtalk_scaler_cloud_on", "1 while GPUs may be created in the cloud",
             totals.cloud ? 1 : 0);
  if (!totals.decision) return;
  page.gauge("navtalk_scaler_target_slots", "Slots that the scaler's last decision asks for",
             totals.decision->target);
  page.gauge("navtalk_scaler_supply_slots",
             "Slots that the scaler's last decision found: serving and starting ones",
             totals.decision->supply);
}

void add_recent(MetricsPage& page, const PoolFacts& facts) {
  std::map<MetricLabels, int> attempts;
  for (const Attempt& attempt : facts.attempts) {
    ++attempts[{{"source", std::string(name(attempt.source))},
                {"operation", std::string(name(attempt.operation))},
                {"result", std::string(name(attempt.result))}}];
  }
  for (const auto& [labels, count] : attempts) {
    page.gauge("navtalk_provider_attempts_last_hour",
               "Creates and wakes of the last hour by source and outcome", count, labels);
  }
  const auto scored = static_cast<double>(facts.promises.scored);
  page.gauge("navtalk_eta_scored_last_hour",
             "Promised waits of the last hour whose outcome is known", scored);
  if (scored == 0) return;
  page.gauge(
      "navtalk_eta_kept_ratio",
      "Share of the promised waits of the last hour that were kept, 0 to 1; the target is 0.9",
      static_cast<double>(facts.promises.kept) / scored);
  page.gauge("navtalk_eta_error_seconds",
             "Mean difference between the promised and the real wait in the last hour, in seconds",
             in_seconds(facts.promises.error) / scored);
}

}  // namespace

PoolFacts read_pool_facts(PoolStore& store, const Budgets& budgets) {
  const TimePoint since = store.now() - k_recent;
  return {report_pool(store), store.attempts(since), store.promise_score(since),
          budget_states(store, budgets)};
}

void add_pool_metrics(MetricsPage& page, const PoolFacts& facts) {
  add_pool(page, facts.report);
  for (const BudgetState& state : facts.budgets) {
    const MetricLabels labels = {{"period", state.period}};
    page.gauge("navtalk_pool_budget_usd", "Budget of this day or month (UTC), in dollars",
               state.budget_usd, labels);
    page.gauge("navtalk_pool_spent_usd", "Spent of the budget of this day or month, in dollars",
               state.spent_usd, labels);
  }
  add_recent(page, facts);
}

}  // namespace navtalk::server
