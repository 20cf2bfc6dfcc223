// navtalk job run: the videos of a list, rendered on this machine.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cmd/artifacts/commands.h"
#include "cmd/commands.h"
#include "cmd/failure.h"
#include "cmd/job/job_file.h"
#include "cmd/job/job_rows.h"
#include "cmd/job/job_runner.h"
#include "cmd/job/renderer_on_cpu.h"
#include "cmd/render_module/render_module.h"
#include "core/base/device_lost.h"
#include "core/base/error.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

void check(const JobRunOptions& options) {
  if (options.csv.empty() == options.folder.empty())
    throw Error(Code::usage, "give what to render: --csv FILE or --folder DIR");
  if (!options.folder.empty() && options.output_directory.empty())
    throw Error(Code::usage, "--folder needs --output-dir, the folder of the videos");
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::create_directory(folder, error) || !error) return;
  throw Error(Code::failed,
              "the folder " + folder.string() + " cannot be made: " + error.message());
}

// The CPU stands in for a GPU without memory only where nobody asked for a device by name.
VideoRenderer real_renderer(const InferOptions& how, Context& context) {
  if (how.device != "auto") return render_module().video_renderer(how, context);
  const auto make = [&how, &context](bool on_cpu) {
    InferOptions there = how;
    if (on_cpu) there = on_the_cpu(std::move(there));
    return render_module().video_renderer(there, context);
  };
  return with_cpu_behind({.make = make, .on_cpu = [](const std::string&) {}});
}

// The module takes a second to load, and a list that is done already does not need it.
VideoRenderer lazy_renderer(const InferOptions& how, Context& context) {
  const auto real = std::make_shared<std::optional<VideoRenderer>>();
  const auto loaded = [real, &how, &context]() -> VideoRenderer& {
    if (!*real) *real = real_renderer(how, context);
    return **real;
  };
  return {.open = [loaded](const InferOptions& one) { loaded().open(one); },
          .speech_s = [loaded](const InferOptions& one) { return loaded().speech_s(one); },
          .load = [loaded] { loaded().load(); },
          .device = [loaded] { return loaded().device(); },
          .render = [loaded](
                        const InferOptions& one,
                        const VideoRenderer::Steps& steps) { return loaded().render(one, steps); }};
}

int run(const JobRunOptions& options, Context& context) {
  use_sources(options.how.sources, context);
  check(options);
  std::vector<JobRow> rows = list_job_rows(options, context);
  make_folder(options.output_directory);
  JobStore store = open_job_file(options.state);
  VideoRenderer renderer = lazy_renderer(options.how, context);
  try {
    JobRunner(store, SegmentFolders(options.state), renderer, context).run(rows);
  } catch (const DeviceLost&) {
    end_without_device({.json = context.json, .colour = context.colour}, context.out);
  }
  return 0;
}

void add_list(CLI::App& command, JobRunOptions& options) {
  CLI::Option& csv = *command
                          .add_option("--csv", options.csv,
                                      "List of videos, with a heading: avatar, audio or text, "
                                      "output, and infer's options; or - for standard input")
                          ->type_name("FILE");
  command
      .add_option("--folder", options.folder,
                  "A video of each file in this folder: recordings, and texts in .txt files")
      ->type_name("DIR")
      ->excludes(&csv);
  command
      .add_option("--output-dir", options.output_directory,
                  "Folder for the videos (default: the one of --csv)")
      ->type_name("DIR");
  command.add_option("--format", options.how.format, "Ending of the videos of --folder")
      ->check(CLI::IsMember({"mp4", "mov", "mkv", "webm", "gif", "webp"}))
      ->capture_default_str()
      ->excludes(&csv)
      ->type_name("ENDING");
  command
      .add_option("--state", options.state,
                  "File that holds the jobs (default: jobs.db in the state directory)")
      ->type_name("FILE");
  command.add_flag("--force", options.how.force, "Replace files that no earlier run has made");
}

}  // namespace

void add_job_run(Commands& commands) {
  const auto options = std::make_shared<JobRunOptions>();
  CLI::App& command =
      commands.add({.group = Group::job,
                    .name = "run",
                    .summary = "Render the videos of a list here, and go on where a run ended",
                    .examples = "  navtalk job run --csv videos.csv\n"
                                "  navtalk job run --folder speeches --output-dir videos\n",
                    .action = [options](Context& context) { return run(*options, context); }});
  add_list(command, *options);
  command
      .add_option_function<std::string>(
          "--avatar",
          [options](const std::string& avatar) {
            options->how.avatar = avatar;
            options->avatar_given = true;
          },
          "Avatar of the rows that name none: its id, or its folder, with a slash")
      ->type_name("DIR|ID");
  command.add_option("--voice", options->how.voice, "Voice of the rows that name none")
      ->type_name("VOICE");
  add_infer_engine_options(command, options->how);
  add_source_option(command, options->how.sources);
}

}  // namespace navtalk::cmd
