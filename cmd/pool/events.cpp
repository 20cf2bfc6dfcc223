// pool events: the history of the GPUs.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/duration.h"
#include "cmd/pool/parts.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"
#include "scheduler/service/pool_report.h"

namespace navtalk::cmd {
namespace {

struct EventsOptions {
  std::string since, gpu;
  bool follow = false;
  int limit = 1000;
};

TimePoint wall_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

// RFC 3339 in UTC, also without its "Z" or the time of day.
std::optional<TimePoint> moment(const std::string& text) {
  for (const char* rest : {"", "Z", "T00:00:00Z"}) {
    if (const auto time = parse_rfc3339(text + rest))
      return std::chrono::time_point_cast<Duration>(*time);
  }
  return std::nullopt;
}

std::optional<TimePoint> parse_since(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (const auto length = parse_duration(text)) return wall_now() - *length;
  if (const auto time = moment(text)) return time;
  throw Error(Code::usage, "--since: '" + printable(text) +
                               "' is neither a time such as 2026-11-21T14:00:00Z nor a length such "
                               "as 90s, 15m, 2h, 3d");
}

std::string state_text(const std::optional<State>& state) {
  return state ? std::string(name(*state)) : "-";
}

void print(const PoolEvent& event, Context& context) {
  if (context.json) return context.out.json(as_json(event));
  const auto at = std::chrono::time_point_cast<std::chrono::system_clock::duration>(event.at);
  context.out.print("{}  {:<16}  {:>8} -> {:<8}  {} ({})\n", rfc3339(at), event.gpu.text,
                    state_text(event.from), state_text(event.to), printable(event.why),
                    printable(event.who));
}

void print_all(const std::vector<PoolEvent>& events, const EventsOptions& options,
               Context& context) {
  if (!context.json || options.follow) {
    for (const PoolEvent& event : events) print(event, context);
    return;
  }
  auto list = nlohmann::ordered_json::array();
  for (const PoolEvent& event : events) list.push_back(as_json(event));
  context.out.json({{"events", std::move(list)}});
}

int events(const EventsOptions& options, Context& context) {
  const auto store = open_store(context.config);
  EventQuery query{.since = parse_since(options.since),
                   .limit = static_cast<std::size_t>(options.limit)};
  if (!options.gpu.empty()) query.gpu = GpuId{options.gpu};
  do {
    const std::vector<PoolEvent> found = store->events(query);
    if (!found.empty()) query.after = found.back().number;
    if (!found.empty() || !options.follow) print_all(found, options, context);
    context.out.flush();
  } while (options.follow && sleep_for(std::chrono::milliseconds(500), context.stop));
  return stop_status(context.stop);
}

}  // namespace

void add_pool_events(Commands& commands) {
  const auto options = std::make_shared<EventsOptions>();
  CLI::App& command = commands.add({
      .group = Group::pool,
      .name = "events",
      .summary = "Show the changes of the pool's GPUs, when and why",
      .examples = "  navtalk pool events --since 2h\n"
                  "  navtalk pool events --gpu local-3fa9c2d1\n"
                  "  navtalk pool events --follow --json\n",
      .action = [options](Context& context) { return events(*options, context); },
  });
  command.add_option("--since", options->since, "A time (RFC 3339, UTC) or how long ago (2h)")
      ->type_name("TIME");
  command.add_option("--gpu", options->gpu, "Only this GPU")->type_name("ID");
  command
      .add_option("--limit", options->limit, "Maximum number of events, newest ones (default 1000)")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  command.add_flag("--follow", options->follow, "Continue with new events until Ctrl-C");
}

}  // namespace navtalk::cmd
