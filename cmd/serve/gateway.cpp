// navtalk serve: the one place where the live objects of a gateway are made and joined.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "avatars/bundle/avatar_clips.h"
#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/bundle_files.h"
#include "avatars/bundle/library.h"
#include "cmd/artifacts/model_store.h"
#include "cmd/config/rules.h"
#include "cmd/defaults.h"
#include "cmd/pool/parts.h"
#include "cmd/pool/providers.h"
#include "cmd/serve/content.h"
#include "cmd/serve/reload.h"
#include "cmd/serve/serve.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/files/secret_file.h"
#include "core/files/state_directory.h"
#include "core/log/log.h"
#include "core/process/identity.h"
#include "core/process/open_files.h"
#include "core/text/printable.h"
#include "core/text/trim.h"
#include "core/trace/trace_exporter.h"
#include "scheduler/access/key_store.h"
#include "scheduler/provision/hosts.h"
#include "scheduler/provision/local/local_provider.h"
#include "scheduler/service/crashed_worker.h"
#include "scheduler/service/pool_config.h"
#include "scheduler/service/pool_service.h"
#include "scheduler/store/sql_pool_store.h"
#include "server/gateway/gateway.h"
#include "server/gateway/jobs/job_files.h"

namespace navtalk::cmd {
namespace {

// A worker reads the same configuration; the environment it inherits.
std::vector<std::string> worker_arguments(const Context& context) {
  std::vector<std::string> arguments = {"--log-level", context.config.log.level};
  if (context.config_option) {
    arguments.insert(arguments.end(),
                     {"--config", std::filesystem::absolute(*context.config_option).native()});
  }
  return arguments;
}

// The configuration as this gateway has read it, whatever becomes of its file; and what a later
// gateway sees that a worker was started with.
std::vector<std::string> worker_environment(const Config& config) {
  const auto variable = [](const char* name, const std::filesystem::path& path) {
    return std::string(name) + "=" + (path.empty() ? "" : std::filesystem::absolute(path).native());
  };
  std::vector<std::string> variables = {variable("NAVTALK_MODELS_PATH", config.models.path),
                                        variable("NAVTALK_AVATARS_PATH", config.avatars.path)};
  if (!config.models.source.empty())
    variables.push_back("NAVTALK_MODELS_SOURCE=" + config.models.source);
  // The gateway itself serves the cache that they share.
  if (!config.models.listen.empty()) variables.emplace_back("NAVTALK_MODELS_LISTEN=");
  if (!config.models.peers.empty())
    variables.push_back("NAVTALK_MODELS_PEERS=" + config.models.peers);
  return variables;
}

LocalProviderOptions local_options(const Context& context, PoolStore& store,
                                   const WorkerTokens& tokens, const std::string& owner) {
  LocalProviderOptions options = {
      .program = std::filesystem::read_symlink("/proc/self/exe"),
      .arguments = worker_arguments(context),
      .environment = worker_environment(context.config),
      .secrets = store_credentials(),
      .devices = local_devices(context.config),
      .slots = context.config.local.slots_per_device,
      .host = host_name(),
      .tokens = tokens,
      .on_crash =
          [&store, owner](const std::string& name, const std::string& how) {
            try {
              fail_crashed_worker(store, name, how, owner);
            } catch (const Error& error) {
              log::warn("a crash could not be recorded", {{"error", error.what()}});
            }
          },
      .blind = [&store, owner] { return host_name_taken(store, host_name(), owner); }};
  // A worker fetches its model before it tells its address.
  if (has_model_sources(context))
    options.address_timeout = std::chrono::seconds(context.config.local.start_timeout_s);
  return options;
}

struct OperatorKey {
  std::string text;
  std::string place;  // the variable, or the file
};

// The configured file, else operator-key in the state directory, made at first use.
OperatorKey operator_key_of(const Config& config) {
  const SecretKind kind{.name = "operator key", .variable = "NAVTALK_OPERATOR_KEY"};
  const std::filesystem::path& configured = config.server.operator_key_file;
  const std::filesystem::path file =
      configured.empty() ? made_state_directory() / "operator-key" : configured;
  const bool in_variable = !trim(environment_value(kind.variable)).empty();
  return {.text = read_secret(kind, file,
                              configured.empty() ? MissingSecret::create : MissingSecret::refuse),
          .place = in_variable ? kind.variable : file.native()};
}

// An installation without the demo and without avatars of its own serves remote workers' ones.
std::vector<std::filesystem::path> served_libraries(const Context& context) {
  try {
    return avatar_libraries(context);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    log::warn("users see no avatars to choose from", {{"error", error.what()}});
    return {};
  }
}

// Of an avatar with several clips the one that silence shows.
std::optional<server::PreviewPart> silent_part(const AvatarInfo& info) {
  if (info.clips.size() < 2) return std::nullopt;
  const AvatarClip& clip = info.clips[find_clip(info.clips, k_idle_clip).value_or(0)];
  return server::PreviewPart{.from = info.fps.seconds(clip.first),
                             .to = info.fps.seconds(clip.first + clip.frames)};
}

// The avatars that a worker of this host finds by their ids, which are the names of their folders.
std::vector<server::ServedAvatar> served_avatars(
    const std::vector<std::filesystem::path>& libraries) {
  std::vector<server::ServedAvatar> served;
  std::set<std::string> ids;
  for (const std::filesystem::path& library : libraries) {
    for (const ListedAvatar& avatar : list_avatars(library)) {
      const std::string id = avatar.directory.filename().native();
      if (!avatar.info || !valid_avatar_id(id) || !ids.insert(id).second) continue;
      const AvatarInfo& info = *avatar.info;
      served.push_back({.id = id,
                        .width = info.width,
                        .height = info.height,
                        .fps = info.fps,
                        .loop = info.loop,
                        .voice = info.voice,
                        .actions = action_names(info.clips),
                        .preview = avatar.directory / k_frames_file,
                        .preview_part = silent_part(info)});
    }
  }
  return served;
}

// Of uploads and results. Error{invalid} when nothing can be kept there.
std::filesystem::path job_folder(const Config& config) {
  std::filesystem::path folder =
      config.jobs.folder.empty() ? made_state_directory() / "jobs" : config.jobs.folder;
  try {
    server::JobFiles(folder).check_folder();
  } catch (const Error& error) {
    throw Error(Code::invalid, "jobs.folder: " + error.message());
  }
  return folder;
}

// nullptr: results stay in the folder.
std::shared_ptr<const server::JobBucket> job_bucket(const Config& config) {
  if (config.jobs.bucket.empty()) return nullptr;
  return std::make_shared<server::JobBucket>(config.jobs.bucket, source_options().variable);
}

// This program again, as another process.
server::SpeechProbeOptions speech_probe(const Config& config) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string longest = std::to_string(config.media.max_duration_s);
  const double longest_s = config.media.max_duration_s;
  return {.command = {program, "--json", "job", "probe", "--max-duration", longest},
          .max_duration_s = longest_s,
          .patience = 5 * server::most_processor_time(longest_s)};
}

// The workers of this host outlive a gateway for a while.
void tell_of_workers(const LocalProvider& local, Context& context) {
  const std::size_t workers = local.running();
  const auto stay_s = local.gateway_timeout().count();
  if (context.json) {
    context.out.json(
        {{"stopped", true}, {"workers_left", workers}, {"workers_end_after_s", stay_s}});
  } else if (workers > 0) {
    context.out.print(
        "{} of this host {} up for {} s more, so that a gateway which starts again "
        "finds {} ready\n",
        counted(static_cast<std::int64_t>(workers), "worker"), workers == 1 ? "stays" : "stay",
        stay_s, workers == 1 ? "it" : "them");
  }
}
// To standard error: standard output is for programs.
void tell_who_is_served(const server::Gateway& gateway, const OperatorKey& operator_key) {
  log::info("requests under /v1/pool need the operator key or an API key of role admin",
            {{"in", operator_key.place}});
  if (gateway.keys_required()) {
    log::info("requests need an API key or a browser token", {{"url", gateway.url()}});
  } else {
    log::info("the pool has no API key: only programs of this machine are served",
              {{"url", gateway.url()}});
  }
}

// nullptr: no collector is configured.
std::shared_ptr<TraceExporter> trace_exporter(const Config& config, const std::string& owner) {
  if (config.trace.url.empty()) return nullptr;
  return std::make_shared<TraceExporter>(TraceOptions{
      .url = config.trace.url,
      .authorization =
          read_secret({.name = "traces' authorization", .variable = "NAVTALK_TRACE_AUTHORIZATION"},
                      config.trace.authorization_file),
      .source = {.version = NAVTALK_VERSION, .instance = owner},
      .share = config.trace.share});
}

// SIGHUP reloads for as long as this lives.
class ReloadOnHangup {
 public:
  ReloadOnHangup(Context& context, std::function<void()> reload) : context_(context) {
    context_.on_hangup(std::move(reload));
  }
  ~ReloadOnHangup() { context_.on_hangup({}); }
  ReloadOnHangup(const ReloadOnHangup&) = delete;
  ReloadOnHangup& operator=(const ReloadOnHangup&) = delete;

 private:
  Context& context_;
};

}  // namespace

int serve_gateway(const ServeOptions& options, Context& context) {
  for (const std::string& warning : side_effects(context.config_reading)) log::warn(warning);
  raise_open_files();
  const Config& config = context.config;
  const auto content = serve_content(context);
  const std::shared_ptr<StoreBackend> backend = open_backend(config);
  const auto store = std::make_unique<SqlPoolStore>(backend);
  KeyStore keys(backend);
  const PoolIdentity identity = identity_of(*store, config);
  const std::string owner = this_process();
  const WorkerTokens tokens = worker_tokens_of(config);

  const std::shared_ptr<Timetable> limits = timetable(context.config_reading);
  PoolProviders others(config, identity, tokens, *store, limits, context.stop);
  LocalProvider local(local_options(context, *store, tokens, owner));
  std::vector<Provider*> providers = others.all();
  providers.push_back(&local);

  SupplyOptions supplies = supply_options(context.config_reading, identity, "gateway " + owner);
  supplies.timetable = limits;
  supplies.cloud_usd_per_hour = [&others] { return others.cloud_usd_per_hour(); };
  DemandTracker demand_tracker(*store);
  demand_tracker.eta_correction();  // a day of promises is read before users wait
  supplies.demand = [&demand_tracker] { return demand_tracker.demand({}); };
  Supply supply(*store, supplies);
  Allocator allocator(*store, supply, demand_tracker, allocator_options(config, owner));

  const OperatorKey operator_key = operator_key_of(config);
  std::optional<PoolService> pool;
  server::Gateway gateway(
      *store, allocator,
      {.listen = options.listen.value_or(config.server.listen),
       .admin_listen = options.admin_listen.value_or(config.server.admin_listen),
       .version = NAVTALK_VERSION,
       .identity = identity,
       .access = {.keys = &keys,
                  .token_secret = tokens.of_purpose("client tokens"),
                  .rules = access_rules(config, operator_key.text)},
       .tls = tls_identity(config),
       .allow_http = config.server.allow_http,
       .connections_per_address =
           static_cast<std::size_t>(config.server.max_connections_per_address),
       .allow_http_workers = config.pool.allow_http_workers,
       .budgets = budgets(config),
       .problems =
           [&pool] {
             using Problems = std::vector<std::string>;
             return pool ? pool->problems() : Problems{"the pool starts"};
           },
       .stop_notice = std::chrono::milliseconds(static_cast<std::int64_t>(options.drain_s * 1000)),
       .avatars = [libraries = served_libraries(context)] { return served_avatars(libraries); },
       .jobs =
           server::JobOptions{
               .backend = backend,
               .folder = job_folder(config),
               .bucket = job_bucket(config),
               .max_upload = static_cast<std::uint64_t>(config.jobs.max_upload_mb) << 20,
               .tenants = job_terms_of(config),
               .lane = batch_lane_options(context.config_reading, "gateway " + owner),
               .input = {.moderation_url = config.jobs.moderation_url,
                         .blocked_words_file = config.jobs.blocked_words_file},
               .fetches = {.allow_private = config.jobs.allow_private,
                           .max_audio = static_cast<std::uint64_t>(config.jobs.max_upload_mb)
                                        << 20},
               .probe = speech_probe(config),
               .keep = std::chrono::hours(24 * config.jobs.keep_days),
               .webhook = webhook_target(config),
               .supply = &supply,
               .demand_tracker = &demand_tracker},
       .session = {.worker_tokens = tokens,
                   .traces = trace_exporter(config, owner),
                   .resume_within = std::chrono::seconds(config.server.resume_s),
                   .trusted_proxies = config.server.trusted_proxies}});
  // Not before the address is ours: a second gateway by mistake starts no GPU.
  PoolOptions pool_of_this_host = pool_options(context.config_reading, identity, owner, tokens);
  pool_of_this_host.timetable = limits;
  pool_of_this_host.host = Host{.name = host_name(),
                                .devices = local_devices(config),
                                .slots_per_device = config.local.slots_per_device,
                                .owner = owner};
  Reload reload({.configuration = context.reread_config,
                 .operator_key = [](const Config& read) { return operator_key_of(read).text; },
                 .limits = [limits](const Timetable& read) { limits->replace_by(read); }},
                config, operator_key.text, gateway);
  // Who knows the address may ask for it.
  const ReloadOnHangup hangups(context, [&reload] { reload.run(); });
  if (!claim_host_name(*store, *pool_of_this_host.host, context.stop))
    return stop_status(context.stop);
  pool.emplace(PoolParts::Uses{*store, supply, demand_tracker, providers}, pool_of_this_host);
  if (context.json) {
    nlohmann::ordered_json told = {{"url", gateway.url()}};
    if (!gateway.admin_url().empty()) told["admin_url"] = gateway.admin_url();
    context.out.json(told);
  } else {
    context.out.print(
        "navtalk serves {0}, {1}\nOpen {0}/ in a browser\nThe operator key is in {2}\n",
        gateway.url(),
        gateway.keys_required() ? "for holders of API keys"
                                : "for this machine only, because there is no API key",
        printable(operator_key.place));
    if (!gateway.admin_url().empty())
      context.out.print("The pool and the metrics are at {}\n", gateway.admin_url());
  }
  context.out.flush();
  tell_who_is_served(gateway, operator_key);
  gateway.run(context.stop);
  tell_of_workers(local, context);
  return stop_status(context.stop);
}

}  // namespace navtalk::cmd
