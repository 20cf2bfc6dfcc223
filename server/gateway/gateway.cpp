#include "server/gateway/gateway.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>

#include "core/base/sleep.h"
#include "core/log/log.h"
#include "server/gateway/gateway_state.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_tuple = asio::as_tuple(asio::use_awaitable);
// What closing handshakes and last answers may take when the process ends.
constexpr auto k_farewell = 2s;
constexpr Duration k_change_wait = 5s;
constexpr Duration k_try_again = 1s;  // signs of life that did not get through

const GatewayOptions& checked(const GatewayOptions& options) {
  if (!is_loopback(parse_listen_address(options.listen))) {
    throw Error(Code::invalid, "the gateway cannot listen on " + options.listen +
                                   ": without API keys, which this version does not have, it "
                                   "serves loopback only; use 127.0.0.1 or [::1]");
  }
  return options;
}

}  // namespace

Gateway::State::State(PoolStore& pool_store, Allocator& pool_allocator,
                      GatewayOptions gateway_options)
    : store(pool_store),
      allocator(pool_allocator),
      options(checked(gateway_options)),
      renewal(io),
      session_over(io.get_executor()) {
  server.emplace(io, parse_listen_address(options.listen), HttpLimits{}, routes());
  changes = std::jthread([this](const std::stop_token& stop) { watch_changes(stop); });
}

Gateway::State::~State() {
  changes.request_stop();
  threads.join();
  renewals.join();
}

// One thread hears of changes for all who wait.
void Gateway::State::watch_changes(const std::stop_token& stop) {
  for (std::uint64_t seen = 0; !stop.stop_requested();) {
    try {
      seen = store.wait_for_change(seen, k_change_wait, stop);
      allocator.invalidate_view();
      outage.well("changes");
    } catch (const std::exception& error) {
      outage.failed("changes", error.what());
      sleep_for(1s, stop);
    }
    asio::post(io, [this] {
      for (LiveSession* session : sessions) {
        if (session->relaying) continue;
        session->pool_changed = true;
        session->signal.ring();
      }
    });
  }
}

asio::awaitable<void> Gateway::State::renew_leases() {
  const Duration every = allocator.options().lease / 3;
  // While a stop lets sessions go on, too, however long that is against the leases.
  for (Duration pause = every; !stopping || !sessions.empty();) {
    renewal.expires_after(pause);
    co_await renewal.async_wait(k_tuple);
    try {
      co_await renew_once();
      pause = every;
      outage.well("leases");
    } catch (const std::exception& error) {
      // Nothing is known; the workers' fence protects against a second session on a slot.
      outage.failed("leases", error.what());
      pause = std::min(every, k_try_again);
    }
  }
}

// A lease that the store no longer knows is somebody else's slot by now. On a thread of its own, so
// that no queue of other calls makes it late.
asio::awaitable<void> Gateway::State::renew_once() {
  std::set<LeaseId> held;
  for (const LiveSession* session : sessions) {
    if (session->lease) held.insert(session->lease->id);
  }
  const Renewal renewed =
      co_await run_on(renewals.get_executor(), [this] { return allocator.renew(); });
  for (const LeaseId& lease : renewed.leases) held.erase(lease);
  for (LiveSession* session : sessions) {
    if (!session->lease || !held.contains(session->lease->id)) continue;
    session->lease_lost = true;
    session->signal.ring();
  }
  co_await give_back_strays(renewed);
}

// What could not be given back when its session ended (the store was away) would be renewed for
// ever. One that is nobody's twice running is no claim that is just under way.
asio::awaitable<void> Gateway::State::give_back_strays(const Renewal& renewed) {
  std::set<std::string> now;
  for (const LeaseId& lease : renewed.leases) now.insert(lease.text);
  for (const WaiterId& waiter : renewed.waiters) now.insert(waiter.text);
  for (const LiveSession* session : sessions) {
    now.erase(session->claimant.id.text);
    if (session->lease) now.erase(session->lease->id.text);
  }
  const std::set<std::string> before = std::exchange(strays, now);
  std::erase_if(now, [&](const std::string& stray) { return !before.contains(stray); });
  if (now.empty()) co_return;
  log::warn("slots without a session are given back", {{"count", std::to_string(now.size())}});
  const auto work = [this, now, renewed] {
    for (const Lease& lease : store.leases()) {
      if (now.contains(lease.id.text)) allocator.release(lease);
    }
    for (const WaiterId& waiter : renewed.waiters) {
      if (now.contains(waiter.text)) allocator.leave(waiter);
    }
  };
  co_await on_store(work);
}

asio::awaitable<void> Gateway::State::shut_down() {
  if (std::exchange(stopping, true)) co_return;
  server->stop();
  const nlohmann::ordered_json notice = {
      {"type", "session.draining"},
      {"notice_s", std::chrono::duration<double>(options.stop_notice).count()}};
  for (LiveSession* session : sessions) {
    if (session->relaying) session->client.offer(control_frame(notice));
    session->signal.ring();
  }
  const auto until = Clock::now() + options.stop_notice;
  while (!sessions.empty() && Clock::now() < until) co_await session_over.wait(until);
  for (LiveSession* session : sessions) {
    session->client.offer(error_frame("drained", "this gateway is going away", 1));
    session->client.close(CloseCode::going_away, "drained");
  }
  co_await server->finished(k_farewell);
  renewal.cancel();
  io.stop();
}

// What sessions could not give back themselves any more.
void Gateway::State::give_back() {
  for (const LiveSession* session : sessions) {
    try {
      if (const auto work = owed(*session)) work();
    } catch (const std::exception& error) {
      log::warn("a lease is left to run out", {{"error", error.what()}});
    }
  }
}

Gateway::Gateway(PoolStore& store, Allocator& allocator, GatewayOptions options)
    : state_(std::make_unique<State>(store, allocator, std::move(options))) {}

Gateway::~Gateway() = default;

std::string Gateway::url() const { return state_->server->url(); }

void Gateway::run(const std::stop_token& stop) {
  State& state = *state_;
  asio::co_spawn(state.io, state.renew_leases(), asio::detached);
  const std::stop_callback leave(stop, [&state] {
    asio::post(state.io, [&state] { asio::co_spawn(state.io, state.shut_down(), asio::detached); });
  });
  state.io.run();
  state.give_back();
}

}  // namespace navtalk::server
