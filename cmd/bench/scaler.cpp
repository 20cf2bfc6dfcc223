// Policies of the pool on a trace of users, on a virtual clock: what each needs in GPU hours when
// all let the same share of users wait.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cmd/bench/report.h"
#include "cmd/commands.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/files/partial_path.h"
#include "scheduler/simulator/sweep.h"
#include "scheduler/simulator/trace/generate.h"

namespace navtalk::cmd {
namespace {

struct BenchScalerOptions {
  std::filesystem::path trace{}, output{};
  std::string generate{};
  GenerateOptions load{};
  std::vector<std::string> policies = policy_names();
  double wait_probability = 0.01;
  std::optional<double> knob{};
  bool faults = false, forget = false, frontier = false, force = false;
  double hold_down_s = 60;
  SimulatorOptions simulator{};
};

// Of a cloud that has its days: about what operators of rented GPUs report.
constexpr Faults k_faults = {.no_capacity = 0.02,
                             .fails = 0.02,
                             .hangs = 0.005,
                             .unknown = 0.01,
                             .wake_fails = 0.05,
                             .crashes_per_h = 0.002,
                             .restarts_per_day = 4};

Trace trace_of(const BenchScalerOptions& options) {
  if (!options.trace.empty()) return read_trace(options.trace);
  GenerateOptions load = options.load;
  load.load = *parse_load(options.generate);
  load.seed = options.simulator.seed;
  return generate(load);
}

void write(const Trace& trace, const std::filesystem::path& file, bool force) {
  PartialPath partial({.target = file, .overwrite = force});
  std::ofstream stream(partial.path(), std::ios::binary);
  stream << as_csv(trace);
  stream.close();
  if (!stream) throw Error(Code::failed, file.native() + ": cannot be written");
  partial.commit();
}

nlohmann::ordered_json as_json(const TraceFacts& facts) {
  return {{"sessions", facts.sessions},
          {"span_h", facts.span_h},
          {"session_mean_s", facts.mean_s},
          {"busy_gpu_hours", facts.busy_gpu_h},
          {"variance_to_mean_1min", facts.burst_1min},
          {"variance_to_mean_10min", facts.burst_10min}};
}

nlohmann::ordered_json as_json(const SweepRow& row) {
  const SimulatorResult& result = row.result;
  return {{"policy", row.policy},
          {"knob", row.knob},
          {"second_knob", row.second},
          {"p_wait", result.p_wait},
          {"p50_wait_s", result.p50_wait_s},
          {"p99_wait_s", result.p99_wait_s},
          {"gpu_hours", result.gpu_hours},
          {"usd", result.usd},
          {"starts", result.starts},
          {"leaked_gpu_hours", result.leaked_gpu_hours},
          {"mean_wait_s", result.mean_wait_s},
          {"abandoned", result.abandoned},
          {"interrupted", result.interrupted},
          {"reversals_per_h", result.reversals_per_h},
          {"eta_coverage", result.eta_coverage},
          {"busy_reclaimed", result.busy_reclaimed}};
}

std::vector<std::string> as_text(const SweepRow& row, double best_hours) {
  const SimulatorResult& result = row.result;
  return {row.policy,
          fmt::format("{:.4g}", row.knob),
          fmt::format("{:.2f} %", result.p_wait * 100),
          fmt::format("{:.1f}", result.p99_wait_s),
          fmt::format("{:.0f}", result.gpu_hours),
          fmt::format("{:+.1f} %", (result.gpu_hours / best_hours - 1) * 100),
          fmt::format("{:.0f}", result.usd),
          std::to_string(result.starts),
          fmt::format("{:.1f}", result.leaked_gpu_hours)};
}

// What the others ship: the yardstick of the table.
double best_of_others(const std::vector<SweepRow>& rows) {
  double best = 0;
  for (const SweepRow& row : rows) {
    const bool other = row.policy == "static" || row.policy == "buffer" ||
                       row.policy == "buffer-hold" || row.policy == "utilisation";
    if (other && (best == 0 || row.result.gpu_hours < best)) best = row.result.gpu_hours;
  }
  return best > 0 ? best : rows.front().result.gpu_hours;
}

void print(const TraceFacts& facts, const std::vector<Sweep>& sweeps,
           const BenchScalerOptions& options, Context& context) {
  constexpr auto k_right = Column::Align::right;
  context.out.print(
      "{} sessions in {:.1f} h, {:.0f} s on average, {:.0f} GPU hours busy; arrivals' variance "
      "over mean {:.1f} per minute, {:.1f} per ten\nlead time {:.0f} s (median), wanted P(wait) "
      "{:.2f} "
      "%\n\n",
      facts.sessions, facts.span_h, facts.mean_s, facts.busy_gpu_h, facts.burst_1min,
      facts.burst_10min, options.simulator.lead_s, options.wait_probability * 100);
  std::vector<SweepRow> rows;
  rows.reserve(sweeps.size());
  for (const Sweep& sweep : sweeps) rows.push_back(sweep.at_equal);
  const double best = best_of_others(rows);
  std::vector<std::vector<std::string>> cells;
  for (const Sweep& sweep : sweeps) {
    cells.push_back(as_text(sweep.at_equal, best));
    if (!sweep.reached) cells.back().emplace_back("P(wait) not reached");
    if (!options.frontier) continue;
    for (const SweepRow& row : sweep.frontier) {
      cells.push_back(as_text(row, best));
      cells.back().front() = "  " + row.policy;
    }
  }
  context.out.write(table({{"policy"},
                           {"knob", k_right},
                           {"P(wait)", k_right},
                           {"p99 wait s", k_right},
                           {"GPU hours", k_right},
                           {"to best other", k_right},
                           {"usd", k_right},
                           {"starts", k_right},
                           {"leaked h", k_right},
                           {""}},
                          cells, context.colour));
}

Sweep run(const std::string& policy, const Trace& trace, const BenchScalerOptions& options,
          const Context& context) {
  const Strategy::Kind kind = *parse_policy(policy);
  if (!options.knob || kind == Strategy::Kind::oracle) {
    return sweep(trace, kind, options.simulator, options.wait_probability, context.stop,
                 context.progress);
  }
  const SweepRow row = one_setting(trace, kind, *options.knob, options.simulator, context.stop);
  return {.at_equal = row, .reached = true, .frontier = {row}};
}

int bench_scaler(BenchScalerOptions options, Context& context) {
  if (options.trace.empty() == options.generate.empty()) {
    throw Error(Code::usage, "give either --trace FILE or --generate smooth|diurnal|bursty");
  }
  for (const std::string& policy : options.policies) {
    if (options.knob) check_knob(*parse_policy(policy), *options.knob);
  }
  options.simulator.limits.hold_down = from_seconds(options.hold_down_s);
  options.simulator.reconcile = !options.forget;
  if (options.faults) options.simulator.faults = k_faults;
  const Trace trace = trace_of(options);
  const TraceFacts known = facts(trace);
  if (!options.output.empty()) {
    write(trace, options.output, options.force);
    nlohmann::ordered_json object{{"trace", as_json(known)}};
    put_path(object, "output", options.output);
    if (context.json) {
      context.out.json(object);
    } else {
      context.out.print("{} sessions\n", known.sessions);
    }
    return 0;
  }
  std::vector<Sweep> sweeps;
  for (const std::string& policy : options.policies) {
    sweeps.push_back(run(policy, trace, options, context));
  }
  if (!context.json) {
    print(known, sweeps, options, context);
    return 0;
  }
  auto rows = nlohmann::ordered_json::array(), frontier = nlohmann::ordered_json::array();
  for (const Sweep& sweep : sweeps) {
    rows.push_back(as_json(sweep.at_equal));
    rows.back()["reached"] = sweep.reached;
    for (const SweepRow& row : sweep.frontier) frontier.push_back(as_json(row));
  }
  context.out.json({{"machine", machine_json(this_machine())},
                    {"trace", as_json(known)},
                    {"rows", rows},
                    {"frontier", frontier}});
  return 0;
}

void add_trace_options(CLI::App& command, BenchScalerOptions& options) {
  command.add_option("--trace", options.trace, "CSV with the heading arrival_s,duration_s")
      ->type_name("FILE");
  command.add_option("--generate", options.generate, "Generate a trace instead")
      ->check(CLI::IsMember({"smooth", "diurnal", "bursty"}))
      ->type_name("LOAD");
  command
      .add_option("--output", options.output, "Write the trace to this file and simulate nothing")
      ->type_name("FILE");
  command.add_flag("--force", options.force, "Replace an existing file");
  command.add_option("--days", options.load.days, "Length of a generated trace")
      ->check(CLI::Range(0.01, 400.0))
      ->type_name("DAYS")
      ->capture_default_str();
  command
      .add_option("--sessions", options.load.sessions,
                  "Approximate number of sessions of a generated trace")
      ->check(CLI::Range(1.0, 1e7))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--session-s", options.load.session_s, "Mean length of these sessions")
      ->check(CLI::Range(1.0, 86400.0))
      ->type_name("S")
      ->capture_default_str();
}

void add_pool_options(CLI::App& command, BenchScalerOptions& options) {
  SimulatorOptions& simulator = options.simulator;
  command.add_option("--lead-s", simulator.lead_s, "Seconds until a cloud GPU is ready, median")
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("S")
      ->capture_default_str();
  command
      .add_option("--lead-sigma", simulator.lead_sigma,
                  "Sigma of that time's lognormal distribution")
      ->check(CLI::Range(0.0, 3.0))
      ->type_name("SIGMA")
      ->capture_default_str();
  command.add_option("--slots", simulator.slots, "Sessions per GPU")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--local-gpus", simulator.local_gpus, "Local GPUs, used before the cloud")
      ->check(CLI::Range(0, 100000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--usd-per-hour", simulator.usd_per_hour, "Price of a cloud GPU")
      ->check(CLI::Range(0.0, 1000.0))
      ->type_name("USD")
      ->capture_default_str();
  command
      .add_option("--patience-s", simulator.patience_s, "Time after which a waiting user leaves")
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("S")
      ->capture_default_str();
  command
      .add_option("--hold-down-s", options.hold_down_s,
                  "static, adaptive: as hold_down_s of [pool]")
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("S")
      ->capture_default_str();
  command
      .add_option("--utilisation-least", simulator.utilisation_least,
                  "utilisation: minimum number of slots")
      ->check(CLI::Range(1, 100000))
      ->type_name("N")
      ->capture_default_str();
  command.add_flag(
      "--faults", options.faults,
      "Add faults: GPUs fail, hang and crash, calls get lost, the controller restarts");
  command.add_flag("--mishaps", options.faults, "The same")->group("");  // its earlier name
  command.add_flag("--no-reconcile", options.forget,
                   "Treat a lost call as a failure: shows what would leak");
}

}  // namespace

void add_bench_scaler(Commands& commands) {
  const auto options = std::make_shared<BenchScalerOptions>();
  CLI::App& command = commands.add(
      {.group = Group::bench,
       .name = "scaler",
       .summary = "Compare scaling policies on a trace of users, at equal P(wait)",
       .examples = "  navtalk bench scaler --trace users.csv --policy adaptive,buffer-hold\n"
                   "  navtalk bench scaler --generate bursty --seed 7 --output bursty.csv\n"
                   "  navtalk bench scaler --generate diurnal --faults --json\n",
       .action = [options](Context& context) { return bench_scaler(*options, context); },
       .needs_config = false});
  add_trace_options(command, *options);
  command.add_option("--policy", options->policies, "Policies, separated by commas; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(policy_names()))
      ->type_name("POLICY");
  command
      .add_option("--wait-probability", options->wait_probability,
                  "Share of waiting users at which policies are compared")
      ->check(CLI::Range(1e-6, 0.9))
      ->type_name("P")
      ->capture_default_str();
  command.add_option("--knob", options->knob, "One setting of each policy instead of a sweep")
      ->check(CLI::Range(1e-12, 1e6))
      ->type_name("N");
  command
      .add_option("--seed", options->simulator.seed,
                  "Seed of the random events, and of a generated trace")
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("--frontier", options->frontier,
                   "Also show every setting that no other one beats");
  add_pool_options(command, *options);
}

}  // namespace navtalk::cmd
