#include "server/gateway/gateway.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "core/log/error_throttle.h"
#include "core/net/async_http_client.h"
#include "core/process/open_files.h"
#include "server/gateway/change_watcher.h"
#include "server/gateway/operator_api.h"
#include "server/gateway/pages/page_routes.h"
#include "server/gateway/session/drain_watch.h"
#include "server/gateway/session/lease_keeper.h"
#include "server/gateway/session/sessions.h"
#include "server/gateway/session/suspects.h"
#include "server/gateway/status_api.h"
#include "server/http/blocking_threads.h"
#include "server/http/connection_caps.h"
#include "server/http/http_server.h"
#include "server/http/io_loop.h"
#include "server/http/local_only.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// What closing handshakes and last answers may take when the process ends.
constexpr auto k_last_answers = 2s;

ListenAddress checked_address(const std::string& listen) {
  ListenAddress address = parse_listen_address(listen);
  if (is_loopback(address)) return address;
  throw Error(Code::invalid, "the gateway cannot listen on " + listen +
                                 ": without API keys, which this version does not have, it "
                                 "serves loopback only; use 127.0.0.1 or [::1]");
}

// What the process has open besides its server's connections: the store, the log, the pipes of local
// workers, calls of providers; and the probes' share.
HttpLimits front_limits() {
  constexpr std::size_t k_ceiling = 4096, k_reserve = 64, k_others = 128;
  const std::size_t files = open_file_limit();
  const std::size_t probes = std::min(AsyncHttpOptions{}.kept_connections,
                                      files / AsyncHttpOptions::k_share_of_open_files);
  return within_open_files({.connections = k_ceiling, .reserve = k_reserve}, files,
                           {.others = k_others + probes, .per_connection = 2});
}

SessionOptions within(const HttpLimits& limits, SessionOptions options) {
  options.max_sessions = std::min(options.max_sessions, limits.connections);
  return options;
}

}  // namespace

// In this order (server/http/io_loop.h): what a line refers to stands above it, except for the
// threads, which end first since they resume coroutines.
struct Gateway::Parts {
  Parts(PoolStore& store, Allocator& allocator, GatewayOptions options)
      : stop_notice(options.stop_notice),
        limits(front_limits()),
        keeper(io.get_executor(), store, allocator, renewal_thread, errors),
        suspects(io.get_executor(), allocator, store_threads, worker_threads,
                 options.session.worker_tokens),
        sessions(io.get_executor(), allocator, store_threads, keeper, suspects,
                 within(limits, options.session)),
        drains(io.get_executor(), store, store_threads, errors,
               [this](const DrainWatch::Ends& ends) { sessions.note_drains(ends); }),
        status(store, store_threads, sessions, options.version, options.problems),
        operators(store, store_threads,
                  {.identity = options.identity,
                   .key = options.operator_key,
                   .allow_http_workers = options.allow_http_workers}),
        avatars(std::move(options.avatars), file_thread),
        server(io, checked_address(options.listen), limits, routes()),
        watcher(store, allocator, errors, io.get_executor(), [this] {
          sessions.note_pool_change();
          drains.note_change();
        }) {}

  Router routes();
  asio::awaitable<void> shut_down();

  const std::chrono::milliseconds stop_notice;
  const HttpLimits limits;
  ErrorThrottleLog errors{"the gateway's calls of the pool's store"};
  IoLoop io;
  LeaseKeeper keeper;
  Suspects suspects;
  Sessions sessions;
  DrainWatch drains;
  StatusApi status;
  OperatorApi operators;
  AvatarApi avatars;
  HttpServer server;
  CoroutineScope coroutines{io};
  BlockingThreads store_threads{4}, renewal_thread{1}, worker_threads{4}, file_thread{1};
  ChangeWatcher watcher;
};

Router Gateway::Parts::routes() {
  Router router;
  router.guard([](const Request& request) -> asio::awaitable<std::optional<Response>> {
    co_return refuse_foreign(request);
  });
  status.add_routes(router);
  operators.add_routes(router);
  avatars.add_routes(router);
  add_page_routes(router);
  router.on_socket("/v1/realtime", [this](const Request& request, Upgrade& upgrade) {
    return sessions.realtime(request, upgrade);
  });
  return router;
}

asio::awaitable<void> Gateway::Parts::shut_down() {
  if (sessions.draining()) co_return;
  server.stop();
  co_await sessions.drain(stop_notice);
  co_await server.finished(k_last_answers);
  keeper.stop();
  io.stop();
}

Gateway::Gateway(PoolStore& store, Allocator& allocator, GatewayOptions options)
    : parts_(std::make_unique<Parts>(store, allocator, std::move(options))) {}

Gateway::~Gateway() = default;

std::string Gateway::url() const { return parts_->server.url(); }

void Gateway::run(const std::stop_token& stop) {
  Parts& parts = *parts_;
  asio::co_spawn(parts.io, parts.keeper.run(), asio::detached);
  const std::stop_callback leave(stop, [&parts] {
    asio::post(parts.io, [&parts] { asio::co_spawn(parts.io, parts.shut_down(), asio::detached); });
  });
  parts.io.run();
  parts.keeper.release_all();
}

}  // namespace navtalk::server
