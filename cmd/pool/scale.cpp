// pool scale: one tick of the scaler, for timers.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/config/rules.h"
#include "cmd/pool/parts.h"
#include "cmd/pool/providers.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"
#include "core/log/log.h"
#include "core/process/identity.h"
#include "scheduler/scaling/explain.h"
#include "scheduler/service/pool_config.h"
#include "scheduler/service/single_tick.h"

namespace navtalk::cmd {
namespace {

constexpr int k_acted = 10;  // exit status of --exit-code

struct ScaleOptions {
  bool dry_run = false, watch = false, exit_code = false;
};

nlohmann::ordered_json as_json(const TickReport& report, bool dry_run) {
  const Tick& tick = report.tick;
  auto actions = nlohmann::ordered_json::array();
  for (const navtalk::Action& action : tick.plan.actions) {
    actions.push_back({{"kind", navtalk::name(action.kind)},
                       {"gpu", action.gpu.text},
                       {"provider", navtalk::name(action.source)},
                       {"why", action.why}});
  }
  auto problems = nlohmann::ordered_json::array();
  for (const TickProblem& problem : report.problems) {
    problems.push_back({{"code", navtalk::name(problem.code)}, {"message", problem.message}});
  }
  // Another process is the scaler: nothing was read, so nothing is known.
  const auto known = [&](auto value) {
    return tick.held ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  return {{"held", tick.held},
          {"dry_run", dry_run},
          {"target", known(tick.plan.target.least)},
          {"supply", known(tick.plan.capacity.supply())},
          {"busy", known(tick.plan.capacity.busy)},
          {"cloud", known(tick.plan.cloud)},
          {"hindrance", known(navtalk::name(tick.plan.blocked_by))},
          {"acted", tick.acted},
          {"actions", std::move(actions)},
          {"explanation", tick.explanation},
          {"problems", std::move(problems)}};
}

// Quiet on success, as cron wants it, unless the plan was asked for.
void tell(const TickReport& report, const ScaleOptions& options, Context& context) {
  const Tick& tick = report.tick;
  if (context.json) {
    context.out.json(as_json(report, options.dry_run));
  } else if (options.dry_run || (options.watch && tick.acted > 0)) {
    for (const std::string& line : tick.explanation) context.out.print("{}\n", line);
  }
  if (!tick.held && !context.stop.stop_requested())
    log::info("another process is the scaler now; nothing was done");
  for (const TickProblem& problem : report.problems) log::error(problem.message);
  context.out.flush();
}

int scale(const ScaleOptions& options, Context& context) {
  if (options.dry_run) {
    for (const std::string& warning : side_effects(context.config_reading)) log::warn(warning);
  }
  const auto store = open_store(context.config);
  const PoolIdentity identity = identity_of(*store, context.config);
  const std::string owner = this_process();
  const WorkerTokens tokens = worker_tokens_of(context.config);
  PoolProviders providers(context.config, identity, tokens, *store,
                          timetable(context.config_reading), context.stop,
                          options.watch ? CloudPatience::usual : CloudPatience::timer);
  throw_if_stopped(context.stop);
  SupplyOptions supplies = supply_options(context.config_reading, identity, "scaler " + owner);
  supplies.cloud_usd_per_hour = [&providers] { return providers.cloud_usd_per_hour(); };
  Supply supply(*store, supplies);
  DemandTracker demand_tracker(*store);
  SingleTick ticker({*store, supply, demand_tracker, providers.all()},
                    pool_options(context.config_reading, identity, owner, tokens));
  int acted = 0;
  std::optional<Code> failure;
  do {
    const TickReport report =
        options.dry_run ? TickReport{.tick = ticker.dry_run()} : ticker.run(context.stop);
    acted += report.tick.acted;
    failure = worst(report.problems);
    tell(report, options, context);
  } while (options.watch &&
           sleep_for(std::chrono::seconds(context.config.pool.tick_s), context.stop));
  if (options.watch) return stop_status(context.stop);
  throw_if_stopped(context.stop);
  if (failure) return exit_status(*failure);
  return options.exit_code && acted > 0 ? k_acted : 0;
}

}  // namespace

void add_pool_scale(Commands& commands) {
  const auto options = std::make_shared<ScaleOptions>();
  CLI::App& command = commands.add({
      .group = Group::pool,
      .name = "scale",
      .summary = "Run one tick of the scaler, for cron and systemd",
      .examples = "  navtalk pool scale                  one tick; prints nothing, exits with 0 on "
                  "success\n"
                  "  navtalk pool scale --dry-run        what it would do, and why\n"
                  "  navtalk pool scale --exit-code      10 when it started or released a GPU\n"
                  "  navtalk pool scale --watch          tick after tick, until Ctrl-C\n",
      .action = [options](Context& context) { return scale(*options, context); },
  });
  command.add_flag("--dry-run", options->dry_run,
                   "Print the plan and its reasons, and change nothing");
  command.add_flag("--watch", options->watch, "Repeat, a tick every pool.tick_s seconds");
  command.add_flag("--exit-code", options->exit_code, "Exit with 10 if it acted");
}

}  // namespace navtalk::cmd
