// Live sessions as their users see them: WebSocket clients that speak to a gateway at the pace of a
// microphone, and what comes back, when.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cmd/bench/serve/options.h"
#include "cmd/bench/serve/phases.h"
#include "cmd/bench/serve/processes/gateway_access.h"
#include "cmd/bench/serve/processes/stand_in_worker.h"
#include "cmd/bench/serve/serve_report.h"
#include "cmd/commands.h"
#include "core/base/error.h"
#include "core/net/url.h"
#include "core/process/open_files.h"

namespace navtalk::cmd {
namespace {

using namespace std::chrono_literals;

constexpr auto k_settle_within = 15s;
constexpr int k_most_slots = 64;  // of a worker
constexpr int k_warm_up_sessions = 4;

std::array<double, 3> load_now() {
  std::array<double, 3> load{};
  getloadavg(load.data(), static_cast<int>(load.size()));
  return load;
}

double own_processor_s() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

server::WebSocket::Address address_of(const std::string& url, const std::string& path) {
  const HttpUrl parts = parse_http_url(url);
  const std::string base = parts.path == "/" ? "" : parts.path;
  return {.host = parts.host,
          .port = std::to_string(parts.port),
          .target = base + path,
          .tls = parts.secure};
}

ClientOptions client_of(const BenchServeOptions& options, const std::string& url) {
  return {.address = address_of(url, "/v1/realtime"),
          .avatar = options.avatar,
          .width = options.width,
          .message = std::chrono::milliseconds(options.message_ms)};
}

LivePhase phase_of(const BenchServeOptions& options, ClientOptions client) {
  return {.sessions = options.sessions,
          .duration = std::chrono::duration<double>(options.seconds),
          .interrupts = options.interrupts,
          .client = std::move(client)};
}

Moments moments_of(ProcessWatch& watch) {
  return {.opened = [&watch] { watch.look(Moment::opened); },
          .played = [&watch] { watch.look(Moment::played); }};
}

void finish(ServeResult& result, ProcessWatch& watch, const Context& context) {
  result.settled = watch.settle(k_settle_within, context.stop);
  result.processes = watch.processes();
  result.opened_to_played_s = watch.time_between(Moment::opened, Moment::played);
}

// What first sessions load, and threads that start when they are needed, are there for the others.
void warm_up(const ClientOptions& client, const Speech& speech, const Context& context) {
  for (int i = 0; i < k_warm_up_sessions; ++i) {
    const std::vector<ClientResult> one = run_connects(1, client, speech, context.stop);
    if (!one.front().problem.empty())
      throw Error(Code::failed, "no session can be opened: " + one.front().problem);
  }
}

ServeResult run_sessions(const BenchServeOptions& options, Context& context) {
  const Speech speech =
      options.audio.empty() ? spoken_sample(context.stop) : read_wav(options.audio);
  if (options.url.empty() && options.sessions > k_most_slots) {
    throw Error(Code::usage, fmt::format("the worker of a gateway without --url holds {} sessions",
                                         k_most_slots));
  }
  std::optional<OwnGateway> own;
  if (options.url.empty())
    own.emplace(OwnGateway::Options{.slots = options.sessions}, context.stop);
  GatewayAccess gateway =
      own ? own->access() : access_to(options.url, options.admin_url, context.config);
  ServeResult result{.url = gateway.url(), .load = load_now()};
  gateway.await_worker(context.stop);
  const ClientOptions client = client_of(options, gateway.url());
  warm_up(client, speech, context);

  ProcessWatch watch(gateway);
  watch.look(Moment::before);
  const Metrics before = gateway.worker_metrics();
  result.sessions = run_live(phase_of(options, client), speech, moments_of(watch), context.stop);
  result.worker_growth = grown(before, gateway.worker_metrics());
  result.connects = run_connects(options.connects, client, speech, context.stop);
  finish(result, watch, context);
  return result;
}

std::vector<float> delays_of(const std::vector<ClientResult>& results) {
  std::vector<float> all;
  for (const ClientResult& result : results)
    all.insert(all.end(), result.delays_ms.begin(), result.delays_ms.end());
  return all;
}

// The gateway alone: a stand-in worker sends media, and its clients are connected to it first directly,
// then through the gateway.
ServeResult run_relay(BenchServeOptions options, Context& context) {
  options.sessions = options.relay;
  const Speech silence{.rate_hz = 16000, .samples = std::vector<std::int16_t>(16000)};
  StandInWorker worker(options.relay);
  OwnGateway own({.local_worker = false}, context.stop);
  GatewayAccess gateway = own.access();
  gateway.add_worker(worker.url(), options.relay);
  ServeResult result{.url = gateway.url(), .load = load_now()};
  gateway.await_worker(context.stop);
  RelayResult relay;

  ClientOptions client = client_of(options, gateway.url());
  client.stamped = true;
  ClientOptions direct = client;
  direct.address = address_of(worker.url(), "/v1/session?lease=bench&epoch=1");
  const auto measured = [&](const ClientOptions& one, Moments moments) {
    const auto opened = moments.opened;
    moments.opened = [&worker, opened] {
      worker.take_delays_ms();
      if (opened) opened();
    };
    return run_live(phase_of(options, one), silence, moments, context.stop);
  };
  relay.direct_to_client = distribution_of(delays_of(measured(direct, {})));
  relay.direct_to_worker = distribution_of(worker.take_delays_ms());

  warm_up(client, silence, context);
  ProcessWatch watch(gateway);
  watch.look(Moment::before);
  Moments moments = moments_of(watch);
  double began_s = 0;
  moments.opened = [&] {
    watch.look(Moment::opened);
    began_s = own_processor_s();
  };
  moments.played = [&] {
    relay.bench_processor_s = own_processor_s() - began_s;
    watch.look(Moment::played);
  };
  result.sessions = measured(client, moments);
  relay.to_client = distribution_of(delays_of(result.sessions));
  relay.to_worker = distribution_of(worker.take_delays_ms());
  for (const ClientResult& session : result.sessions) relay.messages += session.messages;
  finish(result, watch, context);
  relay.seconds = result.opened_to_played_s;
  if (!result.processes.empty()) {
    relay.gateway_processor_s =
        processor_between(result.processes.front(), Moment::opened, Moment::played);
  }
  result.relay = relay;
  return result;
}

int bench_serve(const BenchServeOptions& options, Context& context) {
  raise_open_files();
  const ServeResult result =
      options.relay > 0 ? run_relay(options, context) : run_sessions(options, context);
  if (context.json) {
    context.out.json(serve_json(result, options));
  } else {
    context.out.write(serve_text(result, options, context.colour));
  }
  return is_sound(result) ? 0 : 1;
}

void add_client_options(CLI::App& command, BenchServeOptions& options) {
  command.add_option("--avatar", options.avatar, "Id of the avatar; default: the worker's first")
      ->type_name("ID");
  command.add_option("--width", options.width, "Width of the video in pixels; 0: the avatar's own")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command
      .add_option("--audio", options.audio,
                  "Speech as WAV, 16 bits, mono; default: a text spoken by espeak-ng")
      ->type_name("FILE");
  command.add_option("--message-ms", options.message_ms, "Length of a client's messages of sound")
      ->check(CLI::Range(1, 1000))
      ->type_name("MS")
      ->capture_default_str();
}

}  // namespace

void add_bench_serve(Commands& commands) {
  const auto options = std::make_shared<BenchServeOptions>();
  CLI::App& command = commands.add(
      {.group = Group::bench,
       .name = "serve",
       .summary = "Measure live sessions: latency, pictures per second, interrupts, the gateway",
       .examples = "  navtalk bench serve --duration 60 --interrupts 5 --connects 200\n"
                   "  navtalk bench serve --url http://127.0.0.1:2160 --sessions 4 --json\n"
                   "  navtalk bench serve --relay 200\n",
       .action = [options](Context& context) { return bench_serve(*options, context); }});
  CLI::Option& url =
      *command
           .add_option("--url", options->url,
                       "A gateway that is running; default: one that is started for this")
           ->type_name("URL");
  command
      .add_option("--admin-url", options->admin_url,
                  "Its address for operators, where that is another (server.admin_listen)")
      ->type_name("URL")
      ->needs(&url);
  command.add_option("--sessions", options->sessions, "Sessions at once")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--duration", options->seconds, "Seconds of speech in each session")
      ->check(CLI::Range(0.1, 86400.0))
      ->type_name("S")
      ->capture_default_str();
  command
      .add_option("--interrupts", options->interrupts, "Interruptions in each session after that")
      ->check(CLI::Range(0, 1000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--connects", options->connects, "Sessions to open and end one after the other")
      ->check(CLI::Range(0, 100'000))
      ->type_name("N")
      ->capture_default_str();
  add_client_options(command, *options);
  command
      .add_option("--relay", options->relay,
                  "Sessions through a gateway to a stand-in worker, to measure the gateway alone")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->excludes(&url);
}

}  // namespace navtalk::cmd
