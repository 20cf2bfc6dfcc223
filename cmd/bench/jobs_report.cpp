#include "cmd/bench/jobs_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/terminal/table.h"

namespace navtalk::cmd {
namespace {

// In percent; 0 where there was no wait and is none.
double moved(double before, double after) {
  if (before <= 0) return after <= 0 ? 0 : INFINITY;
  return 100 * (after / before - 1);
}

// Of the tenants that submit often enough for a 99th percentile.
double worst_moved(const JobsRow& row, const std::string& flooder) {
  constexpr std::size_t k_least_jobs = 100;
  double worst = -INFINITY;
  for (const auto& [tenant, waits] : row.usual.tenants) {
    if (tenant == flooder || waits.jobs < k_least_jobs) continue;
    worst = std::max(worst, moved(waits.p99_wait_s, row.flooded.tenants.at(tenant).p99_wait_s));
  }
  return worst;
}

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json as_json(const JobWaits& waits) {
  return {{"jobs", waits.jobs},
          {"video_minutes", waits.work_min},
          {"mean_wait_s", waits.mean_wait_s},
          {"p50_wait_s", waits.p50_wait_s},
          {"p99_wait_s", waits.p99_wait_s},
          {"p99_finish_s", waits.p99_finish_s}};
}

// Null where no users were simulated.
nlohmann::ordered_json live_json(const JobSimulatorResult& result) {
  const LiveWaits& live = result.live;
  if (live.users == 0) return nullptr;
  auto hours = nlohmann::ordered_json::array();
  for (const LaneHour& hour : result.hours)
    hours.push_back({{"live_slots", hour.live}, {"lent_slots", hour.lent}});
  return {{"users", live.users},
          {"p99_wait_s", live.p99_wait_s},
          {"p99_wait_without_jobs_s", live.p99_wait_without_jobs_s},
          {"delayed_by_jobs", live.delayed},
          {"p50_delay_s", live.p50_delay_s},
          {"p99_delay_s", live.p99_delay_s},
          {"max_delay_s", live.max_delay_s},
          {"delayed_above_10_s", live.late_share},
          {"slots_taken_back", result.taken_back},
          {"repeated_share", result.repeated_share},
          {"most_lent", result.most_lent},
          {"hours", hours}};
}

nlohmann::ordered_json as_json(const JobSimulatorResult& result) {
  nlohmann::ordered_json tenants = nlohmann::ordered_json::object();
  for (const auto& [tenant, waits] : result.tenants) tenants[tenant] = as_json(waits);
  return {{"jobs", result.jobs},
          {"span_h", result.span_h},
          {"utilisation", result.utilisation},
          {"lent_share", result.lent_share},
          {"gpu_hours", result.gpu_hours},
          {"gpus_started", result.starts},
          {"most_gpus_started", result.most_started},
          {"preemptions", result.preempted},
          {"resume_share", result.resume_share},
          {"promises_kept", result.kept_first},
          {"promises_kept_as_changed", result.kept_last},
          {"promises_changed", result.changed},
          {"promises_slipped", result.slipped},
          {"actual_to_promised_median", result.slack},
          {"live", live_json(result)},
          {"all", as_json(result.all)},
          {"others", as_json(result.others)},
          {"tenants", tenants}};
}

void print_jobs(const JobTrace& trace, const std::vector<JobsRow>& rows, const BenchJobsRun& run,
                Context& context) {
  constexpr auto k_right = Column::Align::right;
  double minutes = 0;
  for (const TracedJob& job : trace) minutes += job.work.count();
  const int most = run.simulator.max_gpus;
  const std::string started = most > 0 ? fmt::format(" and up to {} more", most) : "";
  context.out.print(
      "{} jobs, {:.0f} video-minutes in {:.1f} h, {} GPUs{} at {:g} video-minutes a minute; '{}' "
      "floods with {} times its jobs\n\n",
      trace.size(), minutes, in_seconds(trace.back().submitted - trace.front().submitted) / 3600,
      run.simulator.gpus, started, run.simulator.rate, run.simulator.flooder, run.flood);
  std::vector<std::vector<std::string>> cells;
  for (const JobsRow& row : rows) {
    const JobSimulatorResult& usual = row.usual;
    const bool promises = row.policy == "shares";
    cells.push_back(
        {row.policy, fmt::format("{:.2f}", row.unfairness),
         fmt::format("{:.0f}", usual.all.p50_wait_s), fmt::format("{:.0f}", usual.all.p99_wait_s),
         fmt::format("{:.0f}", usual.others.p99_wait_s),
         fmt::format("{:.0f}", row.flooded.others.p99_wait_s),
         fmt::format("{:+.1f} %", moved(usual.others.p99_wait_s, row.flooded.others.p99_wait_s)),
         fmt::format("{:+.1f} %", worst_moved(row, run.simulator.flooder)),
         fmt::format("{:.0f} %", usual.utilisation * 100),
         promises ? fmt::format("{:.1f} %", usual.kept_first * 100) : "",
         promises ? fmt::format("{:.1f} %", row.flooded.kept_first * 100) : ""});
  }
  context.out.write(table({{"policy"},
                           {"unfairness", k_right},
                           {"p50 wait s", k_right},
                           {"p99", k_right},
                           {"others' p99", k_right},
                           {"in a flood", k_right},
                           {"moved", k_right},
                           {"worst tenant", k_right},
                           {"GPUs busy", k_right},
                           {"promises kept", k_right},
                           {"in a flood", k_right}},
                          cells, context.colour));
}

// Users, each policy as it is and in the flood.
void print_users(const std::vector<JobsRow>& rows, Context& context) {
  constexpr auto k_right = Column::Align::right;
  std::vector<std::vector<std::string>> cells;
  const auto add = [&](const std::string& name, const JobSimulatorResult& result) {
    const LiveWaits& live = result.live;
    cells.push_back(
        {name, fmt::format("{}", live.users), fmt::format("{}", live.delayed),
         fmt::format("{:.1f}", live.p50_delay_s), fmt::format("{:.1f}", live.p99_delay_s),
         fmt::format("{:.1f}", live.max_delay_s), fmt::format("{:.2f} %", live.late_share * 100),
         fmt::format("{}", result.taken_back), fmt::format("{}", result.most_lent),
         fmt::format("{:.0f} %", result.utilisation * 100),
         fmt::format("{:.1f} %", result.repeated_share * 100)});
  };
  for (const JobsRow& row : rows) {
    add(row.policy, row.usual);
    add(row.policy + ", flood", row.flooded);
  }
  context.out.print("\nusers, and what they waited longer than without jobs\n\n");
  context.out.write(table({{"policy"},
                           {"users", k_right},
                           {"delayed", k_right},
                           {"p50 delay s", k_right},
                           {"p99", k_right},
                           {"most", k_right},
                           {"above 10 s", k_right},
                           {"taken back", k_right},
                           {"most lent", k_right},
                           {"lent of left", k_right},
                           {"repeated", k_right}},
                          cells, context.colour));
}

}  // namespace

nlohmann::ordered_json rows_json(const std::vector<JobsRow>& rows, const std::string& flooder) {
  auto all = nlohmann::ordered_json::array();
  for (const JobsRow& row : rows) {
    const double by = moved(row.usual.others.p99_wait_s, row.flooded.others.p99_wait_s);
    all.push_back({{"policy", row.policy},
                   {"unfairness", row.unfairness},
                   {"others_p99_moved_percent", number_or_null(by)},
                   {"worst_tenant_moved_percent", number_or_null(worst_moved(row, flooder))},
                   {"usual", as_json(row.usual)},
                   {"flooded", as_json(row.flooded)}});
  }
  return all;
}

void print(const JobTrace& trace, const std::vector<JobsRow>& rows, const BenchJobsRun& run,
           Context& context) {
  print_jobs(trace, rows, run, context);
  if (!run.simulator.sessions.empty()) print_users(rows, context);
}

}  // namespace navtalk::cmd
