// pool status: the GPUs, the queue and the totals, once or repeatedly.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/pool/parts.h"
#include "cmd/terminal/table.h"
#include "cmd/terminal/terminal.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"
#include "scheduler/provision/clouds/several_clouds.h"
#include "scheduler/service/pool_report.h"

namespace navtalk::cmd {
namespace {

struct StatusOptions {
  bool watch = false;
  double every_s = 2;
};

// 42 s, 12 min, 3.5 h, 12 d.
std::string age(Duration duration) {
  const double seconds = std::max(0.0, in_seconds(duration));
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.0f} d", seconds / 86400);
}

std::string state_text(const PoolReport& report, const Gpu& gpu) {
  std::string text = fmt::format("{} {}", static_cast<int>(gpu.state), name(gpu.state));
  if (gpu.draining) text += ", draining";
  if (!supervised(report, gpu)) text += ", unsupervised";
  return text;
}

struct ReadingCells {
  std::string memory = "-", load = "-", temperature = "-";
};

ReadingCells cells_of(const std::optional<GpuReading>& reading) {
  ReadingCells cells;
  if (!reading) return cells;
  const auto gib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  cells.memory =
      fmt::format("{:.1f}/{:.1f} GiB", gib(reading->memory_used), gib(reading->memory_total));
  if (reading->load_percent) cells.load = fmt::format("{} %", *reading->load_percent);
  if (reading->temperature_c) cells.temperature = fmt::format("{} °C", *reading->temperature_c);
  return cells;
}

std::vector<std::string> row(const PoolReport& report, const Gpu& gpu) {
  const ReadingCells reading = cells_of(current_reading(gpu, report.view.now));
  return {gpu.id.text,
          state_text(report, gpu),
          std::string(name(origin_of(gpu))),
          printable(gpu.device),
          reading.memory,
          reading.load,
          reading.temperature,
          fmt::format("{}/{}", gpu.sessions, gpu.slots),
          printable(gpu.dedicated_to.text),
          age(report.view.now - gpu.since),
          age(report.view.now - gpu.created_at),
          gpu.usd_per_hour > 0 ? fmt::format("{:.2f}", gpu.usd_per_hour) : "",
          printable(gpu.last_error)};
}

void print(const PoolReport& report, Context& context) {
  using Align = Column::Align;
  std::vector<std::vector<std::string>> rows;
  for (const Gpu& gpu : report.view.gpus) rows.push_back(row(report, gpu));
  if (rows.empty()) {
    context.out.print("The pool has no GPU. 'navtalk serve' starts local ones.\n");
  } else {
    context.out.write(table({{"GPU"},
                             {"STATE"},
                             {"SOURCE"},
                             {"DEVICE"},
                             {"MEMORY", Align::right},
                             {"LOAD", Align::right},
                             {"TEMP", Align::right},
                             {"SESSIONS", Align::right},
                             {"DEDICATED TO"},
                             {"SINCE", Align::right},
                             {"AGE", Align::right},
                             {"USD/H", Align::right},
                             {"LAST ERROR"}},
                            rows, context.colour));
  }
  const PoolTotals& totals = report.totals;
  context.out.print(
      "\n{}, {} of {} slots in use, {} free, {} waiting; {:.2f} USD an hour, "
      "{:.2f} USD in the last day\n",
      totals.gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", totals.gpus), totals.sessions,
      totals.slots, totals.free_slots, totals.waiting, totals.usd_per_hour, totals.usd_last_day);
  if (totals.decision) {
    context.out.print(
        "scaler: {}, target: {} slots, ready or starting: {}; cloud {}; last tick {} ago\n",
        totals.decision->policy, totals.decision->target, totals.decision->supply,
        totals.cloud ? "on" : "off", age(report.view.now - totals.decision->at));
  } else {
    context.out.print("scaler: no tick within the last hour\n");
  }
  const auto tell = [&](const char* what, const ActiveEntry& entry) {
    using std::chrono::system_clock;
    context.out.print("{}: '{}' until {}\n", what, printable(entry.name),
                      rfc3339(std::chrono::time_point_cast<system_clock::duration>(entry.until)));
  };
  if (totals.timetable.schedule) tell("schedule", *totals.timetable.schedule);
  for (const ActiveEntry& entry : totals.timetable.maintenance) tell("maintenance", entry);
  if (totals.stale) {
    context.out.print(
        "warning: the scaler has stopped ticking, so this may be out of date; "
        "is 'navtalk serve', or the timer of 'navtalk pool scale', running?\n");
  }
  if (totals.headroom && totals.headroom->users > 0) {
    const Headroom& headroom = *totals.headroom;
    context.out.print(
        "headroom learned from {:.0f} users and {:.0f} bursts: {:.1f} deviations, trust "
        "{:.0f} %\n",
        headroom.users, headroom.bursts, headroom.used.deviations, headroom.used.trust * 100);
  }
  for (const Origin origin : k_remote_origins) {
    const Outage& outage = totals.outages[origin];
    if (!outage.on) continue;
    context.out.print(
        "warning: most GPUs of {} have not answered for {}: taken for a fault of the network, so "
        "none of them is failed or destroyed\n",
        name(origin), age(report.view.now - outage.since));
  }
  for (const Origin origin : k_origins) {
    if (!totals.sessions_break[origin]) continue;
    context.out.print(
        "warning: sessions break on most GPUs of {}, and their workers answer well: taken for a "
        "fault of the network or the gateway, so none of them is failed for it\n",
        name(origin));
  }
  if (!totals.creation_paused.empty()) {
    context.out.print("creation in the cloud is paused: {}\n", printable(totals.creation_paused));
  }
}

int status(const StatusOptions& options, Context& context) {
  const auto store = open_store(context.config);
  const bool clear = options.watch && !context.json && is_terminal(STDOUT_FILENO);
  do {
    const PoolReport report = report_pool(*store);
    if (clear) context.out.write("\033[H\033[J");
    if (context.json) {
      context.out.json(as_json(report));
    } else {
      print(report, context);
      if (options.watch && !clear) context.out.write("\n");
    }
    context.out.flush();
  } while (
      options.watch &&
      sleep_for(std::chrono::milliseconds(static_cast<int>(options.every_s * 1000)), context.stop));
  return stop_status(context.stop);
}

}  // namespace

void add_pool_status(Commands& commands) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App& command = commands.add({
      .group = Group::pool,
      .name = "status",
      .summary = "Show every GPU of the pool, and the totals",
      .examples = "  navtalk pool status\n"
                  "  navtalk pool status --watch\n"
                  "  navtalk pool status --json | jq .totals\n",
      .action = [options](Context& context) { return status(*options, context); },
  });
  command.add_flag("--watch", options->watch, "Repeat until Ctrl-C");
  command.add_option("--every", options->every_s, "Seconds between two repetitions (default 2)")
      ->check(CLI::Range(0.1, 3600.0))
      ->type_name("SECONDS");
}

}  // namespace navtalk::cmd
