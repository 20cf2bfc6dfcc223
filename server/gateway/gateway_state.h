// The inside of the gateway. Everything here lives on the I/O thread. Private to server/.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "core/log/error_throttle.h"
#include "server/gateway/gateway.h"
#include "server/gateway/live_session.h"
#include "server/http/http_server.h"
#include "server/http/run_on.h"

namespace navtalk::server {

// Seconds from session.start to session.ready.
inline constexpr std::array<double, 9> k_wait_bounds = {0.1, 0.5, 1, 2, 5, 15, 60, 120, 300};

struct GatewayCounts {
  std::uint64_t sessions = 0;  // that got their worker
  std::uint64_t refused = 0, left_queue = 0, connect_failed = 0, worker_lost = 0, lease_lost = 0;
  std::uint64_t bytes_to_worker = 0, bytes_to_client = 0;
  std::array<double, k_wait_bounds.size() + 1> waits{};
  double waits_sum = 0;
};

struct Gateway::State {
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;
  using Clock = std::chrono::steady_clock;

  State(PoolStore& pool_store, Allocator& pool_allocator, GatewayOptions gateway_options);
  ~State();

  // --- life: gateway.cpp
  void watch_changes(const std::stop_token& stop);
  Awaitable<void> renew_leases();
  Awaitable<void> renew_once();
  Awaitable<void> give_back_strays(const Renewal& renewed);
  Awaitable<void> shut_down();
  void give_back();
  template <class Work>
  auto on_store(Work work) {
    return run_on(threads.get_executor(), std::move(work));
  }

  // --- routes: gateway_routes.cpp
  Router routes();
  Awaitable<std::optional<Response>> authorize(const Request& request);
  Awaitable<Response> readyz();
  Awaitable<Response> metrics();
  Awaitable<Response> pool();
  Awaitable<Response> events(const Request& request);
  Awaitable<Response> add_gpu(const Request& request);
  Awaitable<Response> act_on_gpu(const Request& request, std::string action);

  // --- one session: realtime.cpp
  Awaitable<std::optional<Response>> realtime(const Request& request, Upgrade& upgrade);
  Awaitable<void> live(LiveSession& session);
  Awaitable<Step> receive_start(LiveSession& session);
  void refuse(LiveSession& session, std::string_view code, std::string_view message,
              std::optional<double> retry_after_s, CloseCode close);
  Awaitable<void> end_lease(LiveSession& session);
  std::function<void()> owed(const LiveSession& session);
  // --- obtain_slot.cpp
  Awaitable<Step> obtain(LiveSession& session);
  Awaitable<Allocation> look_again(const LiveSession& session, const ShownPlace& shown);
  Awaitable<std::optional<Step>> try_worker(LiveSession& session);
  Awaitable<std::optional<Step>> blame_worker(LiveSession& session, const WorkerFailed& failed);
  Awaitable<std::optional<Step>> give_up_lease(LiveSession& session);
  Awaitable<std::optional<Step>> wait_in_queue(LiveSession& session, const Waiting& place,
                                               ShownPlace& shown);
  // --- open_on_worker.cpp
  Awaitable<Opening> open_on_worker(LiveSession& session);
  Awaitable<Opening> await_ready(LiveSession& session);
  void count_ready(const LiveSession& session);
  // --- relay.cpp
  Awaitable<void> relay(LiveSession& session);
  Awaitable<void> to_worker(LiveSession& session);
  Awaitable<void> to_client(LiveSession& session);
  void prepare_next_gpu(const Lease& lease);
  void tell_end(LiveSession& session, bool client_ended);

  PoolStore& store;
  Allocator& allocator;
  GatewayOptions options;
  GatewayCounts counts{};
  std::set<LiveSession*> sessions{};
  // Of the last renewal: held in the store for this gateway, but by no session that it has.
  std::set<std::string> strays{};
  bool stopping = false;
  OutageLog outage{"the gateway's calls of the pool's store"};

  // Last, in this order: threads end before what their work resumes on.
  boost::asio::io_context io{1};
  boost::asio::steady_timer renewal;
  Signal session_over;
  std::optional<HttpServer> server{};
  boost::asio::thread_pool threads{4}, renewals{1};
  std::jthread changes;
};

}  // namespace navtalk::server
