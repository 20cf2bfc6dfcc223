// Policies of the batch lane on a trace of jobs, on a virtual clock: who waits for how long, how fair
// the order is, what a flood by one tenant does to the others, whether promises hold, and what jobs do to users
// who want the same slots.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cmd/bench/jobs_report.h"
#include "cmd/bench/report.h"
#include "cmd/commands.h"
#include "core/base/error.h"
#include "core/files/partial_path.h"
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

void write(const JobTrace& trace, const std::filesystem::path& file, bool force) {
  PartialPath partial({.target = file, .overwrite = force});
  std::ofstream stream(partial.path(), std::ios::binary);
  stream << as_csv(trace);
  stream.close();
  if (!stream) throw Error(Code::failed, file.native() + ": cannot be written");
  partial.commit();
}

// Along the jobs.
Trace sessions_for(const JobTrace& trace, const BenchJobsOptions& options) {
  const LiveOptions& live = options.live;
  if (!live.trace.empty()) return read_trace(live.trace);
  if (live.at_once <= 0) return {};
  constexpr double k_least_s = 900, k_day_s = 24 * 3600;
  constexpr std::uint64_t k_users = 0x5E55;  // no random numbers of the jobs
  const double length_s = std::max(in_seconds(trace.back().submitted), k_least_s);
  return generate(GenerateOptions{.load = *parse_load(live.load),
                                  .days = length_s / k_day_s,
                                  .sessions = live.at_once * length_s / live.session_s,
                                  .session_s = live.session_s,
                                  .seed = options.load.seed + k_users});
}

int bench_jobs(BenchJobsOptions options, Context& context) {
  if (options.trace.empty() != options.generated)
    throw Error(Code::usage, "give either --trace FILE or --generate");
  if (options.simulator.gpus + options.simulator.max_gpus == 0)
    throw Error(Code::usage, "there is no GPU: --gpus and --max-gpus are both 0");
  const bool users = !options.live.trace.empty() || options.live.at_once > 0;
  if (users && options.simulator.gpus == 0)
    throw Error(Code::usage, "users need a GPU that is always there; give --gpus 1 or more");
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
    print(trace, rows, {.simulator = options.simulator, .flood = options.flood}, context);
    return 0;
  }
  context.out.json({{"machine", machine_json(this_machine())},
                    {"flooder", options.simulator.flooder},
                    {"flood", options.flood},
                    {"rows", rows_json(rows, options.simulator.flooder)}});
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
  command.add_option("--gpus", simulator.gpus, "GPUs that are always there, for users and jobs")
      ->check(CLI::Range(0, 10000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--max-gpus", simulator.max_gpus,
                  "GPUs that jobs may start besides, as jobs.max_gpus")
      ->check(CLI::Range(0, 10000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--lead-s", simulator.lead_s, "Seconds until such a GPU is ready, median")
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("S")
      ->capture_default_str();
  command
      .add_option("--lead-sigma", simulator.lead_sigma,
                  "Sigma of that time's lognormal distribution")
      ->check(CLI::Range(0.0, 3.0))
      ->type_name("SIGMA")
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
                   "Let no job of the shipped policy give way to another tenant's, "
                   "release none ahead of its bucket, and keep no slot free from a flood");
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
