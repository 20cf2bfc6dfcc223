#include "cmd/app.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "cmd/artifacts/model_store.h"
#include "cmd/commands.h"
#include "cmd/config/rules.h"
#include "cmd/context.h"
#include "cmd/failure.h"
#include "cmd/help.h"
#include "cmd/terminal/progress_bar.h"
#include "cmd/terminal/terminal.h"
#include "cmd/usage.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/config/keys.h"
#include "core/log/log.h"

namespace navtalk::cmd {
namespace {

// Variables that hold secrets: environment_value() alone knows them once the program runs.
constexpr const char* k_secrets[] = {
    "NAVTALK_API_KEY",       "NAVTALK_HUB_TOKEN",      "NAVTALK_OPERATOR_KEY",
    "NAVTALK_PEER_TOKEN",    "NAVTALK_SIGNING_SECRET", "NAVTALK_TRACE_AUTHORIZATION",
    "NAVTALK_WORKER_TOKEN",  "RUNPOD_API_KEY",         "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"};

struct Globals {
  std::optional<std::filesystem::path> config_file;
  std::optional<std::string> log_level;
  std::string progress = "auto";
  bool no_color = false;
};

void add_globals(CLI::App& root, Globals& globals) {
  root.formatter(help_formatter());
  root.set_help_flag("-h,--help", "Print this help, or that of a command, and exit");
  root.set_version_flag("--version", "navtalk " NAVTALK_VERSION, "Print the version and exit");
  root.add_option("--config", globals.config_file, "Configuration file (TOML)")->type_name("FILE");
  root.add_flag("--json")->description("Print results and errors as JSON");
  root.add_option("--log-level", globals.log_level,
                  "Log messages of this level and above on standard error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
      ->type_name("LEVEL");
  root.add_option(
          "--progress", globals.progress,
          "Progress on standard error: a bar, or a line every five seconds where that is no "
          "terminal; one JSON object a line; or none")
      ->check(CLI::IsMember({"auto", "json", "none"}))
      ->capture_default_str()
      ->type_name("STYLE");
  root.add_flag("--no-color", globals.no_color, "Print without colours (also NO_COLOR)");
  root.footer(
      "These options may be given before or after the command.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage, 3 bad input or configuration, 4 not found,\n"
      "5 no capacity, 10 acted (pool scale --exit-code), 130 interrupted, 143 terminated.");
  // Global options are understood behind the command too; at most one command, so that a value
  // which happens to be a command's name stays a value.
  root.fallthrough();
  root.require_subcommand(0, 1);
}

// Asked before the line is parsed, since a line that cannot be parsed is answered in JSON too.
bool has_flag(int argc, char** argv, std::string_view flag) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (argv[i] == flag) return true;
  }
  return false;
}

// File and environment, and over them the one flag that is also a key.
ConfigReading read_configuration(const Globals& globals) {
  ConfigReading reading =
      read_config({.file = globals.config_file, .environment = process_environment()});
  if (!globals.log_level) return reading;
  reading.config.log.level = *globals.log_level;
  for (std::size_t i = 0; i < config_keys().size(); ++i) {
    if (config_keys()[i].full_name() == "log.level") reading.origins[i] = "--log-level";
  }
  return reading;
}

ProgressStyle progress_style(const std::string& name) {
  if (name == "json") return ProgressStyle::json;
  if (name == "none") return ProgressStyle::none;
  return is_terminal(STDERR_FILENO) ? ProgressStyle::bar : ProgressStyle::lines;
}

int run_command(const Command& command, const Globals& globals, Context& context) {
  context.colour = wants_colour(STDOUT_FILENO, globals.no_color);
  context.config_option = globals.config_file;
  context.reread_config = [globals] { return read_configuration(globals); };
  if (command.needs_config) context.config_reading = context.reread_config();
  context.config = context.config_reading.config;
  log::start(context.config.log.level, context.config.log.format,
             wants_colour(STDERR_FILENO, globals.no_color));
  for (const std::string& variable : context.config_reading.unknown_variables) {
    log::warn(about_unknown_variable(variable));
  }
  if (command.needs_config) {
    for (const std::string& found : contradictions(context.config_reading)) log::warn(found);
  }
  ProgressBar bar(progress_style(globals.progress));
  context.progress = bar.reporter();
  context.video_progress = [&bar](std::string_view stage, std::chrono::milliseconds done,
                                  std::chrono::milliseconds total) {
    bar.show_video(stage, done, total);
  };
  context.clear_progress = [&bar] { bar.clear(); };
  return command.action(context);
}

int parse_and_run(int argc, char** argv, Context& context) {
  Globals globals;
  CLI::App root("Real-time, voice-driven digital humans.", "navtalk");
  add_globals(root, globals);
  Commands commands(root);
  add_commands(commands);
  try {
    root.parse(argc, argv);
    if (commands.chosen() == nullptr) throw CLI::RequiredError("a command");
  } catch (const CLI::CallForHelp&) {
    const CLI::App& app = deepest(root);
    context.out.write(app.help(app.get_parent() == nullptr ? "" : full_name(*app.get_parent())));
    return 0;
  } catch (const CLI::CallForVersion&) {
    if (context.json) {
      context.out.json({{"version", NAVTALK_VERSION}});
    } else {
      context.out.write("navtalk " NAVTALK_VERSION "\n");
    }
    return 0;
  } catch (const CLI::ParseError& complaint) {
    throw usage_error(root, complaint);
  }
  return run_command(*commands.chosen(), globals, context);
}

}  // namespace

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), reported like a full disk
  withdraw_from_environment(k_secrets);  // before the first thread
  SignalStop signals;
  const FailureStyle style{
      .json = has_flag(argc, argv, "--json"),
      .colour = wants_colour(STDERR_FILENO, has_flag(argc, argv, "--no-color"))};
  Context context{.out = Output(STDOUT_FILENO), .json = style.json, .stop = signals.token()};
  context.fetched = std::make_shared<FetchedArtifacts>();
  context.on_hangup = [&signals](std::function<void()> callback) {
    signals.on_hangup(std::move(callback));
  };
  try {
    const int status = parse_and_run(argc, argv, context);
    context.out.flush();
    return status;
  } catch (...) {
    return report_failure(std::current_exception(), style, context.out);
  }
}

}  // namespace navtalk::cmd
