// navtalk serve: the gateway with its pool, or with --worker one GPU's worker.
#include "cmd/serve/serve.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/artifacts/commands.h"
#include "cmd/commands.h"

namespace navtalk::cmd {
namespace {

int serve(const ServeOptions& options, Context& context) {
  use_sources(options.sources, context);
  return options.worker ? serve_worker(options, context) : serve_gateway(options, context);
}

// A gateway takes these from its configuration; without --worker they would mean nothing.
void add_worker_options(CLI::App& command, CLI::Option& worker, ServeOptions& options) {
  command.add_option("--slots", options.slots, "Sessions at once (worker)")
      ->check(CLI::Range(1, 64))
      ->capture_default_str()
      ->type_name("N")
      ->needs(&worker);
  command
      .add_option("--device", options.device,
                  "cpu, cuda, cuda:N; auto: a GPU if there is one (worker)")
      ->capture_default_str()
      ->type_name("DEVICE")
      ->needs(&worker);
  add_net_placement(command, options.placement, &worker, " (worker)");
  command.add_option("--precision", options.precision, "Number format of the nets (worker)")
      ->check(CLI::IsMember({"auto", "fp32", "bf16", "fp16"}))
      ->capture_default_str()
      ->type_name("PRECISION")
      ->needs(&worker);
  command
      .add_option("--video-encoder", options.video_encoder,
                  "Of live video: nvenc, x264; auto: nvenc where the nets' GPU has it (worker)")
      ->check(CLI::IsMember({"auto", "x264", "nvenc"}))
      ->capture_default_str()
      ->type_name("ENCODER")
      ->needs(&worker);
  command.add_option("--threads", options.threads, "Threads for the nets, 0: every core (worker)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N")
      ->needs(&worker);
  command
      .add_option("--models", options.models,
                  "MuseTalk's checkpoint folder, default: the demo model (worker)")
      ->type_name("DIR")
      ->needs(&worker);
  command.add_option("--avatar", options.avatar, "Id of the avatar to load at start (worker)")
      ->type_name("AVATAR")
      ->needs(&worker);
  command.add_option("--name", options.name, "The name that the gateway gave it (worker)")
      ->type_name("NAME")
      ->needs(&worker);
  command
      .add_option(
          "--token-file", options.token_file,
          "File with the token that gateways send; NAVTALK_WORKER_TOKEN overrides it (worker)")
      ->type_name("FILE")
      ->needs(&worker);
  command
      .add_option("--gateway-silence-s", options.gateway_silence_s,
                  "End if no gateway made a request for this time, 0: never (worker)")
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("SECONDS")
      ->needs(&worker);
  command
      .add_option("--first-contact-s", options.first_contact_s,
                  "How long to wait for the first request, with --gateway-silence-s (worker)")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str()
      ->type_name("SECONDS")
      ->needs(&worker);
}

}  // namespace

void add_serve(Commands& commands) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App& command = commands.add(
      {.name = "serve",
       .summary = "Serve live sessions: the gateway with its GPUs, or one GPU's worker",
       .examples = "  navtalk serve\n"
                   "  navtalk serve --worker --listen 127.0.0.1:0\n",
       .action = [options](Context& context) { return serve(*options, context); }});
  command
      .add_option("--listen", options->listen,
                  "Address to listen on, port 0: a free one (127.0.0.1:2160; worker: 127.0.0.1:0)")
      ->type_name("ADDR:PORT");
  CLI::Option& worker = *command.add_flag("--worker", options->worker, "Run the worker of one GPU");
  command
      .add_option("--admin-listen", options->admin_listen,
                  "Another address, for /v1/pool and /metrics alone (gateway)")
      ->type_name("ADDR:PORT")
      ->excludes(&worker);
  command.add_option("--drain-s", options->drain_s, "How long sessions may continue after SIGTERM")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str()
      ->type_name("SECONDS");
  add_source_option(command, options->sources);
  add_worker_options(command, worker, *options);
}

}  // namespace navtalk::cmd
