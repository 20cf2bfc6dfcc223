#include "server/gateway/gateway.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "core/log/error_throttle.h"
#include "core/net/async_http_client.h"
#include "core/process/open_files.h"
#include "server/gateway/change_watcher.h"
#include "server/gateway/jobs/job_admission.h"
#include "server/gateway/jobs/job_api.h"
#include "server/gateway/jobs/job_metrics.h"
#include "server/gateway/jobs/job_webhooks.h"
#include "server/gateway/jobs/speech/speech_fetches.h"
#include "server/gateway/operator_api.h"
#include "server/gateway/pages/page_routes.h"
#include "server/gateway/session/drain_watch.h"
#include "server/gateway/session/lease_keeper.h"
#include "server/gateway/session/sessions.h"
#include "server/gateway/session/suspects.h"
#include "server/gateway/status_api.h"
#include "server/gateway/worker_metrics.h"
#include "server/http/blocking_threads.h"
#include "server/http/connection/connection_caps.h"
#include "server/http/http_server.h"
#include "server/http/io_loop.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// What closing handshakes and last answers may take when the process ends.
constexpr auto k_last_answers = 2s;

ListenAddress checked_address(const std::string& listen, bool keys, bool clear_text_allowed) {
  ListenAddress address = parse_listen_address(listen);
  if (is_loopback(address)) return address;
  if (!keys) {
    throw Error(
        Code::invalid,
        "the gateway cannot listen on " + listen +
            ": without API keys it serves loopback only; make one with 'navtalk key create', "
            "or use 127.0.0.1 or [::1]");
  }
  if (clear_text_allowed) return address;
  throw Error(Code::invalid,
              "the gateway cannot listen on " + listen +
                  " without TLS, which would show keys and speech to the network: set "
                  "server.tls_certificate_file and server.tls_key_file, or server.allow_http for a "
                  "network that you trust");
}

// Of the operators' port.
constexpr std::size_t k_admin_connections = 64, k_admin_reserve = 16;

// What the process has open besides its server's connections: the store, the log, the pipes of local
// workers, calls of providers; and the probes' share.
std::size_t admin_connections(const GatewayOptions& options) {
  return options.admin_listen.empty() ? 0 : k_admin_connections + k_admin_reserve;
}

HttpLimits front_limits(const GatewayOptions& options) {
  constexpr std::size_t k_ceiling = 4096, k_reserve = 64, k_others = 128;
  const std::size_t files = open_file_limit();
  const std::size_t probes = std::min(AsyncHttpOptions{}.kept_connections,
                                      files / AsyncHttpOptions::k_share_of_open_files);
  const std::size_t fetches =
      options.jobs
          ? std::min(SpeechFetches::k_kept, files / AsyncHttpOptions::k_share_of_open_files)
          : 0;
  return within_open_files(
      {.connections = k_ceiling,
       .reserve = k_reserve,
       .per_address = options.connections_per_address,
       .unbounded_addresses = options.session.trusted_proxies},
      files,
      {.others = k_others + probes + fetches + WorkerMetrics::k_kept_connections +
                 admin_connections(options),
       .per_connection = 2});
}

HttpLimits admin_limits() {
  return {.connections = k_admin_connections, .reserve = k_admin_reserve};
}

asio::awaitable<std::optional<Response>> hide_from_users(const Request& request) {
  if (!is_for_operators(request)) co_return std::nullopt;
  co_return error_response(404, "not_found", "there is no " + request.path);
}

SessionOptions within(const HttpLimits& limits, SessionOptions options) {
  options.max_sessions = std::min(options.max_sessions, limits.connections);
  return options;
}

}  // namespace

// Each waits for one kind of thing, so that none waits for what another one waits for.
struct JobThreads {
  explicit JobThreads(const SpeechFetchOptions& options) : fetches(options) {}

  BlockingThreads runs{2}, api{2}, renewals{1}, folder_looks{1}, runs_bucket{4}, api_bucket{4},
      webhooks{8};
  BlockingThreads moderation{4}, probes{JobAdmission::k_probe_threads};
  SpeechFetches fetches;
};

// Offline renderings.
struct JobParts {
  JobParts(const asio::any_io_executor& executor, PoolStore& pool_store, Allocator& allocator,
           LeaseKeeper& keeper, Access& access, JobThreads& threads, const GatewayOptions& options)
      : pool(pool_store),
        store_threads(threads.api),
        store(options.jobs->backend),
        tenants(options.jobs->backend, options.jobs->tenants),
        late(options.jobs->backend),
        lane({.pool = pool,
              .tenants = tenants,
              .supply = *options.jobs->supply,
              .demand_tracker = *options.jobs->demand_tracker},
             options.jobs->lane),
        files(options.jobs->folder, options.jobs->bucket),
        tokens(options.session.worker_tokens),
        rules(options.jobs->input, ending.get_token()),
        probe(options.jobs->probe),
        fetches(threads.fetches),
        dispatcher(executor, {.pool = pool,
                              .late = late,
                              .allocator = allocator,
                              .keeper = keeper,
                              .tenants = tenants,
                              .lane = lane,
                              .keep = options.jobs->keep,
                              .keep_free = options.jobs->lane.keep_free,
                              .order = by_shares(options.jobs->tenants),
                              .traces = options.session.traces,
                              .runs = {.store = store,
                                       .files = files,
                                       .store_threads = threads.runs,
                                       .file_threads = threads.runs,
                                       .bucket_threads = threads.runs_bucket,
                                       .tokens = tokens},
                              .renewals = threads.renewals,
                              .folder_looks = threads.folder_looks}),
        notices(options.jobs->backend),
        webhooks(options.jobs->webhook
                     ? std::make_unique<JobWebhooks>(executor, notices, *options.jobs->webhook,
                                                     threads.runs, threads.webhooks)
                     : nullptr),
        api({.store = store,
             .tenants = tenants,
             .dispatcher = dispatcher,
             .files = files,
             .access = access,
             .store_threads = threads.api,
             .file_threads = threads.api,
             .bucket_threads = threads.api_bucket,
             .admission = {.rules = rules,
                           .probe = probe,
                           .blocked_words = threads.api,
                           .fetches = threads.fetches,
                           .moderation = threads.moderation,
                           .probes = threads.probes,
                           .avatars = options.avatars},
             .webhook_secret = options.jobs->webhook ? options.jobs->webhook->secret : "",
             .link_secret = tokens.of_purpose("links to results"),
             .avatars = options.avatars,
             .max_upload = options.jobs->max_upload,
             .stop = ending.get_token()}) {}

  // Submissions wait for no other server, no bucket and no process that decodes any more.
  void stop_admission() {
    ending.request_stop();
    probe.stop();
    fetches.stop();
  }

  asio::awaitable<void> add_metrics(MetricsPage& page) {
    add_job_metrics(page, dispatcher.counters(), dispatcher.running());
    auto read = [this] { return read_job_facts(pool, tenants); };
    const JobFacts facts = co_await store_threads.run(read);
    add_job_metrics(page, facts);
  }

  std::vector<std::string> degraded(bool in_full) const {
    const std::string& problem = dispatcher.folder_problem();
    if (problem.empty()) return {};
    const std::string what =
        "jobs are neither accepted nor rendered here, since their files cannot be kept";
    return {in_full ? what + " (jobs.folder): " + problem : what + "; the log says more"};
  }

  PoolStore& pool;
  BlockingThreads& store_threads;
  JobStore store;
  TenantStore tenants;
  LateWorkers late;
  BatchLane lane;
  const JobFiles files;
  const WorkerTokens tokens;
  std::stop_source ending;
  const InputRules rules;
  SpeechProbe probe;
  SpeechFetches& fetches;
  JobDispatcher dispatcher;
  JobNotices notices;
  std::unique_ptr<JobWebhooks> webhooks;
  JobApi api;
};

// In this order (server/http/io_loop.h): what a line refers to stands above it, except for the
// threads, which end first since they resume coroutines.
struct Gateway::Parts {
  Parts(PoolStore& store, Allocator& allocator, GatewayOptions options)
      : stop_notice(options.stop_notice),
        limits(front_limits(options)),
        tls(options.tls != nullptr),
        has_admin_port(!options.admin_listen.empty()),
        keeper(io.get_executor(), store, allocator, renewal_thread, errors),
        suspects(io.get_executor(), allocator, store_threads, worker_threads,
                 options.session.worker_tokens),
        access(io.get_executor(), store_threads, options.access),
        sessions(io.get_executor(), allocator, store_threads, keeper, suspects,
                 within(limits, options.session)),
        drains(io.get_executor(), store, store_threads, errors,
               [this](const DrainWatch::Ends& ends) { sessions.note_drains(ends); }),
        status(store, store_threads, worker_threads, sessions, access, options.version,
               options.problems, options.budgets),
        worker_metrics(store, store_threads, options.session.worker_tokens,
                       allocator.options().host),
        operators(store, store_threads,
                  {.identity = options.identity,
                   .allow_http_workers = options.allow_http_workers,
                   .budgets = options.budgets}),
        avatars(options.avatars, file_thread),
        jobs(options.jobs ? std::make_unique<JobParts>(io.get_executor(), store, allocator, keeper,
                                                       access, job_threads, options)
                          : nullptr),
        server(io,
               checked_address(options.listen, access.keys_required(), tls || options.allow_http),
               limits, routes(), options.tls),
        job_threads(options.jobs ? options.jobs->fetches : SpeechFetchOptions{}),
        watcher(store, allocator, errors, io.get_executor(), [this] {
          sessions.note_pool_change();
          drains.note_change();
          if (jobs) jobs->dispatcher.note_change();
          if (jobs && jobs->webhooks) jobs->webhooks->note_change();
          access.note_change();
        }) {
    if (has_admin_port) {
      const ListenAddress address =
          checked_address(options.admin_listen, access.keys_required(), tls || options.allow_http);
      admin.emplace(io, address, admin_limits(), admin_routes(), options.tls);
    }
    access.on_revocation([this] { sessions.note_revocations(); });
  }

  ~Parts() {
    if (jobs) jobs->stop_admission();  // without shut_down() too
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  Router routes();
  Router admin_routes();
  asio::awaitable<std::optional<Response>> realtime(const Request& request, Upgrade& upgrade);
  asio::awaitable<std::optional<Response>> refuse_new_jobs(const Request& request);
  asio::awaitable<void> shut_down();

  const std::chrono::milliseconds stop_notice;
  const HttpLimits limits;
  const bool tls, has_admin_port;
  ErrorThrottleLog errors{"the gateway's calls of the pool's store"};
  IoLoop io;
  LeaseKeeper keeper;
  Suspects suspects;
  Access access;
  Sessions sessions;
  DrainWatch drains;
  StatusApi status;
  WorkerMetrics worker_metrics;
  OperatorApi operators;
  AvatarApi avatars;
  std::unique_ptr<JobParts> jobs;
  HttpServer server;
  std::optional<HttpServer> admin;
  CoroutineScope coroutines{io};
  BlockingThreads store_threads{4}, renewal_thread{1}, worker_threads{4}, file_thread{1};
  JobThreads job_threads;
  ChangeWatcher watcher;
};

Router Gateway::Parts::routes() {
  Router router;
  // Before any key is judged: who guesses the operator's must not find out here.
  if (has_admin_port) router.guard(hide_from_users);
  access.add_guards(router);
  router.guard([this](const Request& request) { return refuse_new_jobs(request); });
  access.add_routes(router);
  status.add_health(router);
  status.add_source([this](MetricsPage& page) { return worker_metrics.add_to(page); });
  avatars.add_routes(router);
  if (jobs) {
    jobs->api.add_routes(router);
    status.add_degraded([this](bool in_full) { return jobs->degraded(in_full); });
    status.add_source([this](MetricsPage& page) { return jobs->add_metrics(page); });
  }
  if (!has_admin_port) {
    status.add_metrics(router);
    operators.add_routes(router);
  }
  add_page_routes(router, has_admin_port ? Pages::of_users : Pages::all);
  router.on_socket("/v1/realtime", [this](const Request& request, Upgrade& upgrade) {
    return realtime(request, upgrade);
  });
  return router;
}

Router Gateway::Parts::admin_routes() {
  Router router;
  access.add_guards(router);
  status.add_health(router);
  status.add_metrics(router);
  operators.add_routes(router);
  add_page_routes(router, Pages::of_operators);
  return router;
}

asio::awaitable<std::optional<Response>> Gateway::Parts::realtime(const Request& request,
                                                                  Upgrade& upgrade) {
  if (auto refusal = sessions.refuse_new()) co_return refusal;
  auto permit = co_await access.permit_session(request);
  if (auto* refusal = std::get_if<Response>(&permit)) co_return std::move(*refusal);
  co_return co_await sessions.realtime(request, upgrade,
                                       std::get<SessionPermit>(std::move(permit)));
}

asio::awaitable<std::optional<Response>> Gateway::Parts::refuse_new_jobs(const Request& request) {
  const bool submits = request.method == "POST" && request.path.starts_with("/v1/jobs");
  if (!sessions.draining() || !submits) co_return std::nullopt;
  co_return Sessions::draining_response();
}

// Until the sessions are over, the servers answer: whoever comes is told why, and health says so.
asio::awaitable<void> Gateway::Parts::shut_down() {
  if (sessions.draining()) co_return;
  sessions.refuse_all_new();
  if (jobs) jobs->stop_admission();
  if (jobs) co_await jobs->dispatcher.drain();
  if (jobs && jobs->webhooks) co_await jobs->webhooks->drain();
  co_await sessions.drain(stop_notice);
  server.stop();
  if (admin) admin->stop();
  co_await server.finished(k_last_answers);
  if (admin) co_await admin->finished(k_last_answers);
  keeper.stop();
  access.stop();
  io.stop();
}

Gateway::Gateway(PoolStore& store, Allocator& allocator, GatewayOptions options)
    : parts_(std::make_unique<Parts>(store, allocator, std::move(options))) {}

Gateway::~Gateway() = default;

std::string Gateway::url() const { return parts_->server.url(); }

std::string Gateway::admin_url() const { return parts_->admin ? parts_->admin->url() : ""; }

bool Gateway::keys_required() const { return parts_->access.keys_required(); }

void Gateway::apply(GatewayChanges changes) {
  Parts& parts = *parts_;
  asio::post(parts.io, [&parts, changes = std::move(changes)] {
    parts.access.replace(changes.access);
    if (!parts.tls || !changes.tls) return;
    parts.server.use(changes.tls);
    if (parts.admin) parts.admin->use(changes.tls);
  });
}

void Gateway::run(const std::stop_token& stop) {
  Parts& parts = *parts_;
  asio::co_spawn(parts.io, parts.keeper.run(), asio::detached);
  asio::co_spawn(parts.io, parts.access.run(), asio::detached);
  if (parts.jobs) asio::co_spawn(parts.io, parts.jobs->dispatcher.run(), asio::detached);
  if (parts.jobs && parts.jobs->webhooks)
    asio::co_spawn(parts.io, parts.jobs->webhooks->run(), asio::detached);
  const std::stop_callback leave(stop, [&parts] {
    asio::post(parts.io, [&parts] { asio::co_spawn(parts.io, parts.shut_down(), asio::detached); });
  });
  parts.io.run();
  parts.keeper.release_all();
}

}  // namespace navtalk::server
