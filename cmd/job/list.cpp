// navtalk job list, job status: the jobs of a state file, or of a gateway.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/job/job_file.h"
#include "cmd/job/job_rows.h"
#include "cmd/job/remote/job_client.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/log/log.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"

namespace navtalk::cmd {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t k_longest_remote = 1'000;  // jobs that a gateway lists at once

struct ListOptions {
  GatewayOptions gateway;
  std::filesystem::path state;
  std::string only;
  std::int64_t after = 0;
  std::size_t limit = 100;
};

struct StatusOptions {
  GatewayOptions gateway;
  std::filesystem::path state;
  std::string id;
};

std::string time_text(TimePoint time) {
  return rfc3339(std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
}

Json as_json(const Job& job) {
  Json object = {{"id", job.id.text},
                 {"state", name(job.state)},
                 {"video_minutes", job.work.count()},
                 {"attempts", job.attempts},
                 {"submitted_at", time_text(job.submitted_at)},
                 {"changed_at", time_text(job.changed_at)}};
  put_path(object, "avatar", job.spec.avatar);
  if (!job.spec.audio.empty()) put_path(object, "audio", job.spec.audio);
  if (!job.spec.text.empty()) object["text"] = job.spec.text;
  put_path(object, "output", job.spec.output);
  const std::string& error = shown_error(job);
  object["error"] = error.empty() ? Json(nullptr) : Json(error);
  return object;
}

// A mistyped path is an error, not an empty list.
JobStore open_to_read(const std::filesystem::path& state) {
  if (!state.empty() && !std::filesystem::exists(state))
    throw Error(Code::not_found, state.native() + ": there is no such file");
  return open_job_file(state);
}

// Empty also for what a gateway of an older version does not tell.
std::string text_of(const nlohmann::json& job, const char* member) {
  const auto value = job.find(member);
  return value != job.end() && value->is_string() ? printable(value->get<std::string>()) : "";
}

void print_remote(const nlohmann::json& jobs, Context& context) {
  std::vector<std::vector<std::string>> rows;
  for (const nlohmann::json& job : jobs) {
    rows.push_back({text_of(job, "id"), text_of(job, "state"),
                    fmt::format("{:.2f}", job.at("video_minutes").get<double>()),
                    fmt::format("{:.0f} %", 100 * job.at("progress").get<double>()),
                    text_of(job, "error")});
  }
  context.out.write(table({{"job"},
                           {"state"},
                           {"video-minutes", Column::Align::right},
                           {"done", Column::Align::right},
                           {"error"}},
                          rows, context.colour));
}

int list_remote(const ListOptions& options, Context& context) {
  if (options.limit > k_longest_remote)
    throw Error(Code::usage, fmt::format("--limit is at most {} with --url: see --after for more",
                                         k_longest_remote));
  std::string query = fmt::format("?limit={}&cursor={}", options.limit, options.after);
  if (!options.only.empty()) query += "&state=" + options.only;
  const nlohmann::json page = JobClient(options.gateway, context).list(query);
  if (context.json) {
    context.out.json(page);
  } else {
    print_remote(page.at("jobs"), context);
    if (!page.at("next_cursor").is_null())
      context.out.print("More with --after {}\n", page.at("next_cursor").get<std::int64_t>());
  }
  return 0;
}

// In UTC, as the events have it.
std::string promise_text(const nlohmann::json& job) {
  const std::string last = text_of(job, "promised_at"), first = text_of(job, "first_promised_at");
  if (last.empty()) return "No finish time was promised.";
  if (last == first) return "Promised for " + last + ".";
  return fmt::format("Promised for {}, at submission for {}.", last, first);
}

void print_events(const nlohmann::json& events, Context& context) {
  std::vector<std::vector<std::string>> rows;
  for (const nlohmann::json& event : events) {
    rows.push_back({text_of(event, "at"), text_of(event, "event"), text_of(event, "state"),
                    text_of(event, "why")});
  }
  context.out.write(table({{"time"}, {"event"}, {"state"}, {"why"}}, rows, context.colour));
}

// The job was shown: what else is to be told of it may be missing.
nlohmann::json events_or_null(JobClient& client, const std::string& id) {
  try {
    return client.events(id);
  } catch (const Error& error) {
    if (error.code() == Code::interrupted || error.code() == Code::terminated) throw;
    log::warn("the events of the job are missing", {{"error", error.message()}});
    return nullptr;
  }
}

int status_remote(const StatusOptions& options, Context& context) {
  if (options.id.empty())
    throw Error(Code::usage, "name a job of the gateway: navtalk job status ID --url URL");
  JobClient client(options.gateway, context);
  nlohmann::json job = client.show(options.id);
  if (context.json) {
    job["events"] = events_or_null(client, options.id);
    context.out.json(job);
    return 0;
  }
  print_remote(nlohmann::json::array({job}), context);
  context.out.print("{}\n", promise_text(job));
  const nlohmann::json events = events_or_null(client, options.id);
  if (!events.is_null()) print_events(events, context);
  return 0;
}

int list(const ListOptions& options, Context& context) {
  if (!options.gateway.url.empty()) return list_remote(options, context);
  JobStore store = open_to_read(options.state);
  const JobPage page = store.list({.tenant = k_local_tenant,
                                   .state = parse_job_state(options.only),
                                   .after = options.after,
                                   .limit = options.limit});
  if (context.json) {
    Json jobs = Json::array();
    for (const Job& job : page.jobs) jobs.push_back(as_json(job));
    context.out.json(
        {{"jobs", std::move(jobs)}, {"next_cursor", page.next ? Json(*page.next) : Json(nullptr)}});
    return 0;
  }
  if (page.jobs.empty()) {
    context.out.print("There are no such jobs.\n");
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Job& job : page.jobs) {
    rows.push_back({job.id.text, std::string(name(job.state)),
                    fmt::format("{:.2f}", job.work.count()), printable(job.spec.output),
                    printable(shown_error(job))});
  }
  context.out.write(
      table({{"job"}, {"state"}, {"minutes", Column::Align::right}, {"output"}, {"error"}}, rows,
            context.colour));
  if (page.next) context.out.print("More with --after {}\n", *page.next);
  return 0;
}

void print_history(const std::vector<JobHistory>& history, Context& context) {
  std::vector<std::vector<std::string>> rows;
  for (const JobHistory& entry : history) {
    rows.push_back({time_text(entry.at), std::string(name(entry.event)),
                    std::string(name(entry.to)), printable(entry.who), printable(entry.why)});
  }
  context.out.write(
      table({{"time"}, {"event"}, {"state"}, {"who"}, {"why"}}, rows, context.colour));
}

int show(JobStore& store, const JobId& id, Context& context) {
  const auto job = store.find(id);
  if (!job || job->spec.tenant != k_local_tenant)
    throw Error(Code::not_found,
                "there is no job " + printable(id.text) + ": see navtalk job list");
  const std::vector<JobHistory> history = store.history(id);
  if (!context.json) {
    context.out.print("{}: {}, {:.2f} video-minutes, to {}\n", job->id.text, name(job->state),
                      job->work.count(), printable(job->spec.output));
    if (!job->error.empty()) context.out.print("{}\n", printable(job->error));
    print_history(history, context);
    return 0;
  }
  Json object = as_json(*job);
  Json events = Json::array();
  for (const JobHistory& entry : history) {
    events.push_back({{"at", time_text(entry.at)},
                      {"event", name(entry.event)},
                      {"state", name(entry.to)},
                      {"who", entry.who},
                      {"why", entry.why}});
  }
  object["events"] = std::move(events);
  context.out.json(object);
  return 0;
}

int status(const StatusOptions& options, Context& context) {
  if (!options.gateway.url.empty()) return status_remote(options, context);
  JobStore store = open_to_read(options.state);
  if (!options.id.empty()) return show(store, {options.id}, context);
  const auto totals = store.totals(k_local_tenant);
  Json states;
  std::vector<std::vector<std::string>> rows;
  for (int code = 0; code < k_job_states; ++code) {
    const auto state = static_cast<JobState>(code);
    const auto found = totals.find(state);
    const JobTotal total = found == totals.end() ? JobTotal{} : found->second;
    states[std::string(name(state))] = {{"jobs", total.jobs},
                                        {"video_minutes", total.work.count()}};
    rows.push_back({std::string(name(state)), std::to_string(total.jobs),
                    fmt::format("{:.2f}", total.work.count())});
  }
  if (context.json) {
    context.out.json({{"states", std::move(states)}});
    return 0;
  }
  context.out.write(
      table({{"state"}, {"jobs", Column::Align::right}, {"video-minutes", Column::Align::right}},
            rows, context.colour));
  return 0;
}

// Of this machine's runs, unless a gateway is named.
void add_place(CLI::App& command, std::filesystem::path& state, GatewayOptions& gateway) {
  command.add_option("--url", gateway.url, "A gateway, whose jobs are shown instead")
      ->type_name("URL");
  command
      .add_option("--key-file", gateway.key_file,
                  "File with the gateway's API key (default: the variable NAVTALK_API_KEY)")
      ->type_name("FILE");
  command
      .add_option("--state", state,
                  "File that holds the jobs (default: jobs.db in the state directory)")
      ->type_name("FILE");
}

}  // namespace

void add_job_list(Commands& commands) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App& command =
      commands.add({.group = Group::job,
                    .name = "list",
                    .summary = "List jobs in the order of their submission",
                    .examples = "  navtalk job list --only failed\n",
                    .action = [options](Context& context) { return list(*options, context); }});
  add_place(command, options->state, options->gateway);
  command.add_option("--only", options->only, "Jobs in this state")
      ->check(
          CLI::IsMember({"queued", "released", "running", "done", "failed", "dead", "cancelled"}))
      ->type_name("STATE");
  command.add_option("--limit", options->limit, "At most so many")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--after", options->after, "Those behind this one: next_cursor of a list")
      ->check(CLI::NonNegativeNumber)
      ->type_name("CURSOR");
}

void add_job_status(Commands& commands) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App& command =
      commands.add({.group = Group::job,
                    .name = "status",
                    .summary = "Count jobs and video-minutes in each state, or show one job",
                    .examples = "  navtalk job status\n",
                    .action = [options](Context& context) { return status(*options, context); }});
  add_place(command, options->state, options->gateway);
  command.add_option("job", options->id, "The job's id")->type_name("ID");
}

}  // namespace navtalk::cmd
