// From session.start to a worker that is ready, or a client who has been told why not.
//
//   arrive ──► Waiting ── queue.update, until a slot is claimed ──► Lease ──► open_on_worker
//      │          ▲                                                              │
//      ▼          └──────── the worker failed: the GPU is failed ────────────────┤
//    NoGpu: refused        the lease is gone, or the worker fenced it off        ▼
//                                                              Ready, or over for this client
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "server/gateway/gateway_state.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

namespace {

constexpr auto k_look_again = 1s;     // in the queue, where nothing tells that time has passed
constexpr double k_shown_anew_s = 2;  // an ETA that moved by so much is shown
// One that so many workers cannot start may itself be what they cannot bear: it takes no more of
// them down.
constexpr int k_failed_starts = 3;
constexpr int k_fenced = 3;

Frame queue_update(const Waiting& place) {
  Json update = {{"type", "queue.update"}, {"position", place.position}, {"eta_s", nullptr}};
  // Tenths: nobody can promise more.
  if (place.eta) update["eta_s"] = std::round(in_seconds(*place.eta) * 10) / 10;
  return control_frame(update);
}

// A client counts down by itself: only what differs from that is news.
bool news(const Waiting& now, const Waiting& shown, double since_s) {
  if (now.position != shown.position || now.eta.has_value() != shown.eta.has_value()) return true;
  if (!now.eta) return false;
  const double expected = std::max(0.0, in_seconds(*shown.eta) - since_s);
  return std::abs(in_seconds(*now.eta) - expected) > k_shown_anew_s;
}

}  // namespace

asio::awaitable<Step> Gateway::State::obtain(LiveSession& session) {
  const Claimant claimant = session.claimant;
  Allocation allocation = co_await on_store([&] { return allocator.arrive(claimant); });
  ShownPlace shown;
  for (;;) {
    std::optional<Step> end;
    if (const auto* lease = std::get_if<Lease>(&allocation)) {
      session.lease = *lease;
      session.lease_lost = false;  // that was another
      end = co_await try_worker(session);
    } else if (const auto* none = std::get_if<NoGpu>(&allocation)) {
      ++counts.refused;
      refuse(session, "no_capacity", none->message, in_seconds(none->retry_after),
             CloseCode::try_again);
      end = Step::over;
    } else {
      end = co_await wait_in_queue(session, std::get<Waiting>(allocation), shown);
      if (end) ++counts.left_queue;
    }
    if (end) co_return *end;
    allocation = co_await look_again(session, shown);
  }
}

asio::awaitable<Allocation> Gateway::State::look_again(const LiveSession& session,
                                                       const ShownPlace& shown) {
  const Claimant claimant = session.claimant;
  try {
    co_return co_await on_store([&] { return allocator.check(claimant); });
  } catch (const Error& error) {
    // The database may come back; the place in the queue is still there then.
    log::warn("a waiter could not be looked after", {{"error", error.what()}});
  }
  co_return shown.place;
}

// nullopt: look again.
asio::awaitable<std::optional<Step>> Gateway::State::try_worker(LiveSession& session) {
  Opening opening = co_await open_on_worker(session);
  if (std::holds_alternative<Ready>(opening)) co_return Step::on;
  if (std::holds_alternative<ClientLeft>(opening)) co_return Step::over;
  if (std::holds_alternative<GatewayStops>(opening)) {
    refuse(session, "draining", "this gateway is going away", 1, CloseCode::going_away);
    co_return Step::over;
  }
  if (auto* refused = std::get_if<ClientRefused>(&opening)) {
    session.client.offer(std::move(refused->error));
    session.client.close(CloseCode::refused, "the worker refused the session");
    co_return Step::over;
  }
  // From here on there is no session on that worker; a late word of it reaches nobody.
  session.worker.reset();
  if (std::holds_alternative<LeaseGone>(opening)) {
    session.lease.reset();
    co_return std::nullopt;
  }
  if (auto* fenced = std::get_if<Fenced>(&opening)) {
    // Once more would be the worker's fault: it takes for old what the pool gives out now.
    if (++session.fenced < k_fenced) co_return co_await give_up_lease(session);
    opening = WorkerFailed{.why = "the worker takes new leases for old: " + fenced->why,
                           .starting = true};
  }
  co_return co_await blame_worker(session, std::get<WorkerFailed>(opening));
}

// The GPU is well, and the slot free for whoever is next: with a higher epoch.
asio::awaitable<std::optional<Step>> Gateway::State::give_up_lease(LiveSession& session) {
  const Lease lease = *session.lease;
  try {
    co_await on_store([&] { store.unclaim(lease.id, lease.epoch); });
    session.lease.reset();
  } catch (const Error& error) {
    // Still ours: the next look brings us here again.
    log::warn("a lease could not be given up", {{"gpu", lease.gpu.text}, {"error", error.what()}});
  }
  if (session.client_left()) co_return Step::over;
  co_return std::nullopt;
}

// The GPU is failed whether or not the client still waits: the next one would only find the same.
asio::awaitable<std::optional<Step>> Gateway::State::blame_worker(LiveSession& session,
                                                                  const WorkerFailed& failed) {
  ++counts.connect_failed;
  const Lease lease = *session.lease;
  const std::string why = failed.why;
  try {
    co_await on_store([&] { allocator.connect_failed(lease, why); });
    session.lease.reset();
  } catch (const Error& error) {
    // The lease is still ours: once the store answers, the next look brings us here again.
    log::warn("a GPU could not be failed", {{"gpu", lease.gpu.text}, {"error", error.what()}});
  }
  if (session.client_left()) co_return Step::over;
  if (!failed.starting || ++session.failed_starts < k_failed_starts) co_return std::nullopt;
  refuse(session, "failed", "several GPUs could not start this session; try again later", 5,
         CloseCode::failed);
  co_return Step::over;
}

// Shows the place if it is new, then waits for a change.
asio::awaitable<std::optional<Step>> Gateway::State::wait_in_queue(LiveSession& session,
                                                                   const Waiting& place,
                                                                   ShownPlace& shown) {
  const double since_s = std::chrono::duration<double>(Clock::now() - shown.at).count();
  if (news(place, shown.place, since_s)) {
    session.client.offer(queue_update(place));
    shown = {place, Clock::now()};
  }
  const auto until = Clock::now() + k_look_again;
  while (!session.pool_changed && Clock::now() < until) {
    if (session.client_left()) co_return Step::over;
    if (stopping) {
      refuse(session, "draining", "this gateway is going away", 1, CloseCode::going_away);
      co_return Step::over;
    }
    co_await session.signal.wait(until);
  }
  session.pool_changed = false;
  if (session.client_left()) co_return Step::over;
  co_return std::nullopt;
}

}  // namespace navtalk::server
