// Policies of the batch lane on a trace of jobs, on a virtual clock: who waits for how long, how fair
// the order is, what a flood by one tenant does to the others, whether promises hold, and what jobs do to users
// who want the same slots.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cmd/bench/report.h"
#include "cmd/commands.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/files/partial_path.h"
#include "scheduler/simulator/jobs/job_simulator.h"
#include "scheduler/simulator/trace/generate.h"

namespace navtalk::cmd {
namespace {

// Users of the live lane: a trace, or so many at once in the mean.
struct LiveOptions {
  std::filesystem::path trace{};
  double at_once = 0;
  std::string load = "diurnal";
  double session_s = 300;
};

struct BenchJobsOptions {
  std::filesystem::path trace{}, output{};
  LiveOptions live{};
  bool generated = false, force = false;
  JobTraceOptions load{};
  std::vector<std::string> policies = {"shares", "fifo", "priority", "fair"};
  int flood = 10;
  std::string flooder{};
  JobSimulatorOptions simulator{};
};

struct JobsRow {
  std::string policy;
  double unfairness = 0;  // when all jobs are submitted at once
  JobSimulatorResult usual{}, flooded{};
};

void write(const JobTrace& trace, const std::filesystem::path& file, bool force) {
  PartialPath partial({.target = file, .overwrite = force});
  std::ofstream stream(partial.path(), std::ios::binary);
  stream << as_csv(trace);
  stream.close();
  if (!stream) throw Error(Code::failed, file.native() + ": cannot be written");
  partial.commit();
}

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

void print(const JobTrace& trace, const std::vector<JobsRow>& rows, const BenchJobsOptions& options,
           Context& context) {
  constexpr auto k_right = Column::Align::right;
  double minutes = 0;
  for (const TracedJob& job : trace) minutes += job.work.count();
  context.out.print(
      "{} jobs, {:.0f} video-minutes in {:.1f} h, {} GPUs at {:g} video-minutes a minute; '{}' "
      "floods with {} times its jobs\n\n",
      trace.size(), minutes, in_seconds(trace.back().submitted - trace.front().submitted) / 3600,
      options.simulator.gpus, options.simulator.rate, options.simulator.flooder, options.flood);
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
         fmt::format("{:+.1f} %", worst_moved(row, options.simulator.flooder)),
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
void print_live(const std::vector<JobsRow>& rows, Context& context) {
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

// Along the jobs.
Trace sessions_for(const JobTrace& trace, const BenchJobsOptions& options) {
  const LiveOptions& live = options.live;
  if (!live.trace.empty()) return read_trace(live.trace);
  if (live.at_once <= 0) return {};
  constexpr double k_least_s = 900, k_day_s = 24 * 3600;
  const double length_s = std::max(in_seconds(trace.back().submitted), k_least_s);
  return generate(GenerateOptions{.load = *parse_load(live.load),
                                  .days = length_s / k_day_s,
                                  .sessions = live.at_once * length_s / live.session_s,
                                  .session_s = live.session_s,
                                  .seed = options.load.seed});
}

int bench_jobs(BenchJobsOptions options, Context& context) {
  if (options.trace.empty() != options.generated)
    throw Error(Code::usage, "give either --trace FILE or --generate");
  const JobTrace trace = options.generated ? generate(options.load) : read_job_trace(options.trace);
  if (trace.empty()) {
    throw Error(Code::invalid, "the generated trace has no job; give more --hours or --arriving");
  }
  if (!options.output.empty()) {
    write(trace, options.output, options.force);
    nlohmann::ordered_json object{{"jobs", trace.size()}};
    put_path(object, "output", options.output);
    if (context.json) {
      context.out.json(object);
    } else {
      context.out.print("{} jobs\n", trace.size());
    }
    return 0;
  }
  options.simulator.flooder = options.flooder.empty() ? largest_tenant(trace) : options.flooder;
  options.simulator.seed = options.load.seed;
  options.simulator.sessions = sessions_for(trace, options);
  const JobTrace flood = flooded(trace, options.simulator.flooder, options.flood);
  std::vector<JobsRow> rows;
  for (const std::string& policy : options.policies) {
    const JobPolicy chosen = *parse_job_policy(policy);
    rows.push_back(
        {.policy = policy,
         .unfairness = unfairness_at_once(trace, chosen, options.simulator, context.stop),
         .usual = simulate(trace, chosen, options.simulator, context.stop),
         .flooded = simulate(flood, chosen, options.simulator, context.stop)});
    context.progress("simulating", rows.size(), options.policies.size());
  }
  context.clear_progress();
  if (!context.json) {
    print(trace, rows, options, context);
    if (!options.simulator.sessions.empty()) print_live(rows, context);
    return 0;
  }
  auto all = nlohmann::ordered_json::array();
  for (const JobsRow& row : rows) {
    const double by = moved(row.usual.others.p99_wait_s, row.flooded.others.p99_wait_s);
    all.push_back({{"policy", row.policy},
                   {"unfairness", row.unfairness},
                   {"others_p99_moved_percent", number_or_null(by)},
                   {"worst_tenant_moved_percent",
                    number_or_null(worst_moved(row, options.simulator.flooder))},
                   {"usual", as_json(row.usual)},
                   {"flooded", as_json(row.flooded)}});
  }
  context.out.json({{"machine", machine_json(this_machine())},
                    {"flooder", options.simulator.flooder},
                    {"flood", options.flood},
                    {"rows", all}});
  return 0;
}

void add_jobs_trace_options(CLI::App& command, BenchJobsOptions& options) {
  JobTraceOptions& load = options.load;
  command
      .add_option(
          "--trace", options.trace,
          "CSV with the heading submitted_s,tenant,video_minutes, and plan,weight if wanted")
      ->type_name("FILE");
  command.add_flag("--generate", options.generated,
                   "Make a trace of tenants by Zipf's law instead");
  command
      .add_option("--output", options.output, "Write the trace to this file and simulate nothing")
      ->type_name("FILE");
  command.add_flag("--force", options.force, "Replace an existing file");
  command.add_option("--tenants", load.tenants, "Tenants of a generated trace")
      ->check(CLI::Range(2, 1000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--zipf", load.zipf, "Exponent of their law")
      ->check(CLI::Range(0.0, 4.0))
      ->type_name("S")
      ->capture_default_str();
  command.add_option("--hours", load.hours, "Its length")
      ->check(CLI::Range(0.1, 2400.0))
      ->type_name("H")
      ->capture_default_str();
  command.add_option("--arriving", load.arriving, "Its video-minutes a minute")
      ->check(CLI::Range(0.01, 10000.0))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--batch-jobs", load.batch_jobs, "Jobs that a tenant submits at once, mean")
      ->check(CLI::Range(1.0, 10000.0))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--job-minutes", load.job_minutes, "Length of a video, mean")
      ->check(CLI::Range(0.01, 600.0))
      ->type_name("MIN")
      ->capture_default_str();
  command
      .add_option("--seed", load.seed,
                  "Seed of the trace, of the users and of the times that jobs take")
      ->type_name("N")
      ->capture_default_str();
}

void add_jobs_live_options(CLI::App& command, LiveOptions& live) {
  CLI::Option* const trace =
      command
          .add_option("--sessions", live.trace,
                      "Users who have the slots first: CSV with the heading arrival_s,duration_s")
          ->type_name("FILE");
  command.add_option("--live", live.at_once, "Generate users instead, so many at once in the mean")
      ->check(CLI::Range(0.01, 10000.0))
      ->excludes(trace)
      ->type_name("N");
  command.add_option("--live-load", live.load, "How generated users come")
      ->check(CLI::IsMember({"smooth", "diurnal", "bursty"}))
      ->type_name("LOAD")
      ->capture_default_str();
  command.add_option("--session-s", live.session_s, "Mean length of their sessions")
      ->check(CLI::Range(1.0, 86400.0))
      ->type_name("S")
      ->capture_default_str();
}

void add_jobs_lane_options(CLI::App& command, BenchJobsOptions& options) {
  JobSimulatorOptions& simulator = options.simulator;
  command.add_option("--gpus", simulator.gpus, "GPUs, which users and jobs share")
      ->check(CLI::Range(1, 10000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--rate", simulator.rate, "Video-minutes that a GPU renders in a minute")
      ->check(CLI::Range(0.001, 1000.0))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--utilisation", simulator.utilisation,
                  "Part of the GPUs on which the shipped policy counts")
      ->check(CLI::Range(0.05, 1.0))
      ->type_name("PART")
      ->capture_default_str();
  command.add_flag("!--whole-jobs", simulator.preempts,
                   "Let no job of the shipped policy give way to another tenant's, and "
                   "release none ahead of its bucket");
  command.add_option("--policy", options.policies, "Policies to compare")
      ->check(CLI::IsMember({"shares", "fifo", "priority", "fair"}))
      ->delimiter(',')
      ->type_name("POLICY")
      ->default_str("all");
  command
      .add_option("--flood", options.flood,
                  "Times that the flooding tenant submits each of its jobs")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--flooder", options.flooder,
                  "The flooding tenant (default: the one with the most work)")
      ->type_name("TENANT");
}

}  // namespace

void add_bench_jobs(Commands& commands) {
  const auto options = std::make_shared<BenchJobsOptions>();
  CLI::App& command = commands.add({
      .group = Group::bench,
      .name = "jobs",
      .summary = "Simulate policies of the batch lane on a trace of jobs",
      .examples = "  navtalk bench jobs --generate\n"
                  "  navtalk bench jobs --trace jobs.csv --gpus 8 --policy shares,fifo\n"
                  "  navtalk bench jobs --trace jobs.csv --sessions users.csv --policy shares\n",
      .action = [options](Context& context) { return bench_jobs(*options, context); },
      .needs_config = false,
  });
  add_jobs_trace_options(command, *options);
  add_jobs_live_options(command, options->live);
  add_jobs_lane_options(command, *options);
}

}  // namespace navtalk::cmd
