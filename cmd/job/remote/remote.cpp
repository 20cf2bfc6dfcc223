// navtalk job submit, wait, fetch, cancel: jobs that a gateway has rendered.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "cmd/commands.h"
#include "cmd/infer/failed_inputs.h"
#include "cmd/job/remote/follow_jobs.h"
#include "cmd/job/remote/job_client.h"
#include "cmd/job/remote/output_files.h"
#include "cmd/job/remote/wanted_videos.h"
#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/whole_file.h"
#include "core/log/log.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_named = 20;  // jobs in one message

struct SubmitOptions {
  GatewayOptions gateway;
  WantedVideos wanted;
  fs::path output;
  bool wait = false, force = false;
};

struct NamedJobs {
  GatewayOptions gateway;
  std::vector<std::string> ids;
  fs::path output;
  bool force = false;
};

std::string id_of(const nlohmann::json& job) { return job.at("id"); }
std::string state_of(const nlohmann::json& job) { return job.at("state"); }

// When it will be done, by this machine's clock; nothing where nobody knows.
std::string promise_of(const nlohmann::json& job) {
  const auto promised = job.find("promised_at");
  if (is_over(job) || promised == job.end() || !promised->is_string()) return "";
  const auto time = parse_rfc3339(promised->get<std::string>());
  if (!time) return "";
  const auto local = [](std::chrono::system_clock::time_point at) {
    return fmt::localtime(std::chrono::system_clock::to_time_t(at));
  };
  const std::tm at = local(*time), now = local(std::chrono::system_clock::now());
  const bool today = at.tm_yday == now.tm_yday && at.tm_year == now.tm_year;
  return today ? fmt::format(", done by {:%H:%M}", at)
               : fmt::format(", done by {:%Y-%m-%d %H:%M}", at);
}

void tell(const nlohmann::json& job, const std::string& name, const fs::path& file,
          Context& context) {
  if (context.json) {
    nlohmann::ordered_json object = job;
    object["input"] = name;
    if (!file.empty()) put_path(object, "output", file);
    context.out.json(object);
  } else {
    context.out.print("{}: job {} is {}{}{}{}\n", name, id_of(job), state_of(job), promise_of(job),
                      file.empty() ? "" : ", its video is ", printable(file.native()));
  }
  context.out.flush();
}

// The error of a job that is over without a result.
Error end_of(const nlohmann::json& job) {
  const bool of_input = state_of(job) == "failed";
  const std::string why =
      job.at("error").is_string() ? ": " + printable(job.at("error").get<std::string>()) : "";
  return {of_input ? Code::invalid : Code::failed,
          fmt::format("job {} is {}{}", id_of(job), state_of(job), why)};
}

// The same video has the same key, so that the same command submits nothing twice.
std::string key_of(const nlohmann::json& job, const std::string& audio) {
  const std::string text =
      job.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" + audio;
  return sha256(std::as_bytes(std::span(text)));
}

// One that ended without a video is submitted anew.
nlohmann::json submit_one(JobClient& client, const WantedVideo& video) {
  std::string audio;
  if (!video.audio.empty()) {
    const std::vector<std::uint8_t> bytes = read_file(video.audio);
    audio.assign(bytes.begin(), bytes.end());
  }
  const std::string key = key_of(video.job, audio);
  for (int again = 0;; ++again) {
    const nlohmann::json job =
        client.submit(video.job, audio, again == 0 ? key : fmt::format("{}:{}", key, again));
    if (!is_over(job) || state_of(job) == "done") return job;
  }
}

bool ended_by_signal(const Error& error) {
  return error.code() == Code::interrupted || error.code() == Code::terminated;
}

// What to do about jobs that are not fetched when the command ends early: they go on without it.
Error with_jobs_that_go_on(const Error& stop, const std::vector<std::string>& ids,
                           const GatewayOptions& gateway) {
  if (ids.empty()) return stop;
  const std::string url = gateway.url.empty() ? "" : " --url " + gateway.url;
  const std::string what = ids.size() == 1 ? "job " + ids.front() + " goes on"
                                           : fmt::format("{} jobs go on", ids.size());
  const std::string how =
      ids.size() > k_most_named
          ? fmt::format("'navtalk job list{}' shows them", url)
          : fmt::format("'navtalk job wait {}{}' waits for {}", fmt::join(ids, " "), url,
                        ids.size() == 1 ? "it" : "them");
  return {stop.code(), fmt::format("{}: {} at the gateway: {}, 'navtalk job fetch' gets a video",
                                   stop.message(), what, how)};
}

class Submitter {
 public:
  Submitter(const SubmitOptions& options, Context& context)
      : options_(options), context_(context), client_(options.gateway, context) {}

  // Returns what was submitted, each job once.
  std::vector<nlohmann::json> submit(const std::vector<WantedVideo>& videos);
  // Fetches the videos as they are done.
  void fetch(std::vector<nlohmann::json> jobs);
  // In the order of submission, without those that were fetched or have failed.
  const std::vector<std::string>& going() const { return going_; }
  const FailedInputs& failed() const { return failed_; }

 private:
  template <typename Work>
  void try_to(const WantedVideo& video, const Work& work);

  const SubmitOptions& options_;
  Context& context_;
  JobClient client_;
  FailedInputs failed_;
  std::map<std::string, std::vector<const WantedVideo*>> of_job_;  // rows of the same content
  std::vector<std::string> going_;
};

template <typename Work>
void Submitter::try_to(const WantedVideo& video, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (ended_by_signal(error)) throw;
    failed_.add(video.name, error.code());
    context_.clear_progress();
    log::error(fmt::format("{}: {}", video.name, error.message()));
  }
}

std::vector<nlohmann::json> Submitter::submit(const std::vector<WantedVideo>& videos) {
  std::vector<nlohmann::json> jobs;
  for (std::size_t i = 0; i < videos.size(); ++i) {
    const WantedVideo& video = videos[i];
    if (videos.size() > 1) context_.progress("submitting", i, videos.size());
    try_to(video, [&] {
      if (video.error) throw Error(*video.error);
      const nlohmann::json job = submit_one(client_, video);
      if (!options_.wait) {
        context_.clear_progress();
        tell(job, video.name, {}, context_);
      }
      std::vector<const WantedVideo*>& rows = of_job_[id_of(job)];
      rows.push_back(&video);
      if (rows.size() > 1) return;
      jobs.push_back(job);
      going_.push_back(id_of(job));
    });
  }
  context_.clear_progress();
  return jobs;
}

void Submitter::fetch(std::vector<nlohmann::json> jobs) {
  follow_jobs(client_, std::move(jobs), context_, [&](const nlohmann::json& job) {
    for (const WantedVideo* const video : of_job_.at(id_of(job))) {
      try_to(*video, [&] {
        if (state_of(job) != "done") throw end_of(job);
        if (!video->output.empty())
          client_.fetch(job, video->output, options_.force, [](auto, auto) {});
        tell(job, video->name, video->output, context_);
      });
    }
    std::erase(going_, id_of(job));
  });
}

int submit(const SubmitOptions& options, Context& context) {
  if (!options.output.empty() && !options.wait)
    throw Error(Code::usage, "--output needs --wait; or fetch the video later: navtalk job fetch");
  Submitter submitter(options, context);
  std::vector<WantedVideo> videos = list_wanted(options.wanted, context);
  if (options.wait) choose_output_files(videos, options.output, options.force);
  try {
    std::vector<nlohmann::json> jobs = submitter.submit(videos);
    if (options.wait) submitter.fetch(std::move(jobs));
  } catch (const Error& error) {
    if (!options.wait) throw;
    throw with_jobs_that_go_on(error, submitter.going(), options.gateway);
  }
  submitter.failed().throw_if_any(videos.size());
  return 0;
}

// Asks about all; returns those of several that do not exist. The only one is an error at once.
std::vector<std::string> missing_of(const std::vector<std::string>& ids,
                                    const std::function<void(const std::string&)>& work) {
  std::vector<std::string> missing;
  for (const std::string& id : ids) {
    try {
      work(id);
    } catch (const Error& error) {
      if (ids.size() == 1 || error.code() != Code::not_found) throw;
      log::error(error.message());
      missing.push_back(printable(id));
    }
  }
  return missing;
}

void throw_if_missing(const std::vector<std::string>& missing, std::size_t of) {
  if (missing.empty()) return;
  throw Error(Code::not_found, fmt::format("{} of {} jobs do not exist: {}", missing.size(), of,
                                           fmt::join(missing, ", ")));
}

int wait(const NamedJobs& options, Context& context) {
  JobClient client(options.gateway, context);
  std::vector<nlohmann::json> jobs;
  const std::vector<std::string> missing =
      missing_of(options.ids, [&](const std::string& id) { jobs.push_back(client.show(id)); });
  bool all_done = true;
  follow_jobs(client, std::move(jobs), context, [&](const nlohmann::json& job) {
    tell(job, "waited", {}, context);
    if (state_of(job) == "done") return;
    all_done = false;
    log::error(end_of(job).message());
  });
  throw_if_missing(missing, options.ids.size());
  return all_done ? 0 : 1;
}

int fetch(const NamedJobs& options, Context& context) {
  // Its pieces come by ranges into a file, which another try can begin anew.
  if (options.output == "-")
    throw Error(Code::usage, "a video is fetched into a file: name it with --output FILE");
  JobClient client(options.gateway, context);
  const nlohmann::json job = client.show(options.ids.front());
  const auto progress = [&](std::uint64_t done, std::uint64_t of) {
    context.progress("fetching", static_cast<std::size_t>(done), static_cast<std::size_t>(of));
  };
  client.fetch(job, options.output, options.force, progress);
  context.clear_progress();
  tell(job, "fetched", options.output, context);
  return 0;
}

int cancel(const NamedJobs& options, Context& context) {
  JobClient client(options.gateway, context);
  bool all = true;
  const std::vector<std::string> missing = missing_of(options.ids, [&](const std::string& id) {
    const nlohmann::json job = client.cancel(id);
    all = all && state_of(job) == "cancelled";
    tell(job, "asked to cancel", {}, context);
  });
  throw_if_missing(missing, options.ids.size());
  return all ? 0 : 1;
}

}  // namespace

void add_job_submit(Commands& commands) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App& command = commands.add(
      {.group = Group::job,
       .name = "submit",
       .summary = "Have a gateway render videos",
       .examples = "  navtalk job submit --avatar ada --text \"Hello.\" --wait -o hello.mp4\n"
                   "  navtalk job submit --avatar ada --audio a.wav b.wav\n"
                   "  navtalk job submit --csv videos.csv --wait --output videos\n"
                   "  navtalk job submit --folder speeches --avatar ada --wait --output videos\n",
       .action = [options](Context& context) { return submit(*options, context); }});
  WantedVideos& wanted = options->wanted;
  command.add_option("--avatar", wanted.avatar, "The avatar's id, of rows that name none")
      ->type_name("ID");
  command
      .add_option("--audio", wanted.audio,
                  "Recordings, a video each; the gateway fetches those of URLs")
      ->type_name("FILE | URL");
  command.add_option("--text", wanted.text, "What the avatar says")->type_name("TEXT");
  command.add_option("--voice", wanted.voice, "Voice of texts")->type_name("VOICE");
  command
      .add_option("--csv", wanted.csv,
                  "List of videos, with a heading: avatar, audio or text, and infer's options")
      ->type_name("FILE");
  command
      .add_option("--folder", wanted.folder,
                  "A video of each file in this folder: recordings, and texts in .txt files")
      ->type_name("DIR");
  command
      .add_option("--format", wanted.format,
                  "Format of the videos (default: as the file is named, or mp4)")
      ->check(
          CLI::IsMember(std::vector<std::string>(k_video_formats.begin(), k_video_formats.end())))
      ->type_name("FORMAT");
  command.add_option("--size", wanted.size, "Width of the videos, in pixels")->type_name("WIDTH");
  command.add_option("--fps", wanted.fps, "Frames a second")->type_name("RATE");
  command.add_option("--priority", wanted.priority, "Higher is rendered first")
      ->check(CLI::Range(-100, 100))
      ->type_name("N");
  command.add_option("--webhook", wanted.webhook, "Where the gateway posts the end of each job")
      ->type_name("URL");
  command.add_flag("--wait", options->wait, "Wait until all videos are rendered");
  command
      .add_option("-o,--output", options->output,
                  "With --wait: the video's file, or the folder of several")
      ->type_name("FILE|DIR");
  command.add_flag("--force", options->force, "Replace files");
  add_gateway_options(command, options->gateway);
}

void add_job_wait(Commands& commands) {
  const auto options = std::make_shared<NamedJobs>();
  CLI::App& command =
      commands.add({.group = Group::job,
                    .name = "wait",
                    .summary = "Wait until jobs of a gateway are over",
                    .examples = "  navtalk job wait 4f1c8b2e9a7d4c55\n",
                    .action = [options](Context& context) { return wait(*options, context); }});
  command.add_option("jobs", options->ids, "Ids of jobs")->required()->type_name("ID");
  add_gateway_options(command, options->gateway);
}

void add_job_fetch(Commands& commands) {
  const auto options = std::make_shared<NamedJobs>();
  CLI::App& command =
      commands.add({.group = Group::job,
                    .name = "fetch",
                    .summary = "Fetch the video of a gateway's job",
                    .examples = "  navtalk job fetch 4f1c8b2e9a7d4c55 -o hello.mp4\n",
                    .action = [options](Context& context) { return fetch(*options, context); }});
  command.add_option("job", options->ids, "The job's id")->required()->expected(1)->type_name("ID");
  command.add_option("-o,--output", options->output, "The video's file")
      ->required()
      ->type_name("FILE");
  command.add_flag("--force", options->force, "Replace the file");
  add_gateway_options(command, options->gateway);
}

void add_job_cancel(Commands& commands) {
  const auto options = std::make_shared<NamedJobs>();
  CLI::App& command =
      commands.add({.group = Group::job,
                    .name = "cancel",
                    .summary = "Cancel jobs of a gateway",
                    .examples = "  navtalk job cancel 4f1c8b2e9a7d4c55\n",
                    .action = [options](Context& context) { return cancel(*options, context); }});
  command.add_option("jobs", options->ids, "Ids of jobs")->required()->type_name("ID");
  add_gateway_options(command, options->gateway);
}

}  // namespace navtalk::cmd
