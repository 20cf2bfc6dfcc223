// GET /v1/realtime: one user's session, from session.start to goodbye.
//
//   client ── session.start ──► arrive ──► Waiting ── queue.update, until a slot is claimed
//                                 │           │
//                                 ▼           ▼
//                               Lease ──► worker's WebSocket ──► its session.ready ──► relay
//                                 ▲           │ not reached: the GPU is failed
//                                 └───────────┘
#include <algorithm>
#include <boost/asio/detached.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/http_url.h"
#include "core/log.h"
#include "server/control_frame.h"
#include "server/gateway_state.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

namespace {

constexpr auto k_look_again = 1s;  // in the queue, where nothing tells that time has passed
constexpr auto k_worker_silence = 20s;
constexpr double k_shown_anew_s = 2;  // an ETA that moved by so much is shown

std::string type_of(const std::string& text) {
  const auto object = parse_control(text);
  return object ? object->at("type").get<std::string>() : "";
}

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

// Behind the path of the worker's base URL, where a proxy gave it one.
std::string session_target(const std::string& base, const Lease& lease) {
  const std::string prefix = base.ends_with('/') ? base.substr(0, base.size() - 1) : base;
  return prefix + "/v1/session?lease=" + lease.id.text + "&epoch=" + std::to_string(lease.epoch) +
         "&slot=" + std::to_string(lease.slot);
}

}  // namespace

asio::awaitable<std::optional<Response>> Gateway::State::realtime(const Request&,
                                                                  Upgrade& upgrade) {
  if (stopping) co_return error_response(503, "draining", "this gateway is going away");
  if (sessions.size() >= options.max_sessions) {
    Response refusal =
        error_response(503, "no_capacity", "this gateway has as many sessions as it may");
    refusal.headers.emplace_back("Retry-After", "10");
    co_return refusal;
  }
  SocketLimits limits;
  limits.silence = options.client_silence;
  limits.write = options.slow_client;
  const std::unique_ptr<WebSocket> socket = co_await upgrade.accept(limits);
  if (!socket) co_return std::nullopt;
  {
    LiveSession session(*socket, io.get_executor());
    session.claimant.id = WaiterId{random_id()};
    socket->on_activity([&session] { session.signal.ring(); });
    sessions.insert(&session);
    try {
      co_await live(session);
    } catch (const std::exception& error) {
      log::error("a session failed",
                 {{"session", session.claimant.id.text}, {"error", error.what()}});
      refuse(session, "failed", "internal error; try again", 5, CloseCode::failed);
    }
    co_await end_lease(session);
    sessions.erase(&session);
    socket->on_activity({});
    session_over.ring();
  }
  socket->close(CloseCode::normal, "");
  co_await socket->finished();
  co_return std::nullopt;
}

void Gateway::State::refuse(LiveSession& session, std::string_view code, std::string_view message,
                            std::optional<double> retry_after_s, CloseCode close) {
  session.client.offer(error_frame(code, message, retry_after_s));
  session.client.close(close, std::string(code));
}

asio::awaitable<void> Gateway::State::live(LiveSession& session) {
  // g++ 12 makes a trap of two conditions with co_await that both return.
  bool going = co_await receive_start(session);
  if (going) going = co_await obtain(session);
  if (going) co_await relay(session);
}

asio::awaitable<bool> Gateway::State::receive_start(LiveSession& session) {
  const auto until = Clock::now() + options.start_within;
  for (;;) {
    if (const std::optional<Frame> frame = session.client.poll()) {
      if (frame->text && type_of(frame->bytes) == "session.start") {
        session.start = frame->bytes;
        co_return true;
      }
      refuse(session, "usage", "the first frame is session.start, a JSON object", {},
             CloseCode::refused);
      co_return false;
    }
    if (!session.client.open()) co_return false;
    if (stopping || Clock::now() >= until) {
      refuse(session, "usage", "no session.start came in time", {}, CloseCode::refused);
      co_return false;
    }
    co_await session.signal.wait(until);
  }
}

// What comes before session.ready is dropped, but for the goodbye.
bool Gateway::State::client_leaves(LiveSession& session) {
  while (const std::optional<Frame> frame = session.client.poll()) {
    if (frame->text && type_of(frame->bytes) == "session.end") return true;
  }
  return !session.client.open();
}

// True with a worker that is ready for this session; false when the client left or was refused.
asio::awaitable<bool> Gateway::State::obtain(LiveSession& session) {
  const Claimant claimant = session.claimant;
  Allocation allocation = co_await on_store([&] { return allocator.arrive(claimant); });
  Waiting shown;
  Clock::time_point shown_at{};
  for (;;) {
    if (const auto* lease = std::get_if<Lease>(&allocation)) {
      session.lease = *lease;
      std::string why;
      if (co_await connect(session, why)) co_return true;
      if (!session.lease || client_leaves(session) || stopping) co_return false;
      ++counts.connect_failed;
      const Lease failed = *std::exchange(session.lease, std::nullopt);
      co_await on_store([&] { allocator.connect_failed(failed, why); });
    } else if (const auto* none = std::get_if<NoGpu>(&allocation)) {
      ++counts.refused;
      refuse(session, "no_capacity", none->message, in_seconds(none->retry_after),
             CloseCode::try_again);
      co_return false;
    } else if (!co_await wait_in_queue(session, std::get<Waiting>(allocation), shown, shown_at)) {
      ++counts.left_queue;
      co_return false;
    }
    try {
      allocation = co_await on_store([&] { return allocator.check(claimant); });
    } catch (const Error& error) {
      // The database may come back; the place in the queue is still there then.
      log::warn("a waiter could not be looked after", {{"error", error.what()}});
    }
  }
}

// Shows the place if it is new, then waits for a change. False when the client left.
asio::awaitable<bool> Gateway::State::wait_in_queue(LiveSession& session, const Waiting& place,
                                                    Waiting& shown, Clock::time_point& shown_at) {
  const double since_s = std::chrono::duration<double>(Clock::now() - shown_at).count();
  if (news(place, shown, since_s)) {
    session.client.offer(queue_update(place));
    shown = place;
    shown_at = Clock::now();
  }
  const auto until = Clock::now() + k_look_again;
  while (!session.pool_changed && Clock::now() < until) {
    if (client_leaves(session)) co_return false;
    if (stopping) {
      refuse(session, "draining", "this gateway is going away", 1, CloseCode::going_away);
      co_return false;
    }
    co_await session.signal.wait(until);
  }
  session.pool_changed = false;
  co_return !client_leaves(session);
}

// Opens the session on the lease's worker. False with a reason when the worker is to blame; a
// client that the worker refused is told and has no lease any more.
asio::awaitable<bool> Gateway::State::connect(LiveSession& session, std::string& why) {
  const HttpUrl url = parse_http_url(session.lease->url);
  WebSocket::Address address;
  address.host = url.host;
  address.port = std::to_string(url.port);
  address.tls = url.secure;
  address.target = session_target(url.path, *session.lease);
  address.headers.emplace_back("X-Navtalk-Protocol", "1");
  if (!options.worker_token.empty())
    address.headers.emplace_back("Authorization", "Bearer " + options.worker_token);
  SocketLimits limits;
  limits.handshake = options.connect_within;
  limits.silence = k_worker_silence;
  WebSocket::Declined declined;
  session.worker = co_await WebSocket::connect(address, limits, declined);
  if (!session.worker) {
    why = "the worker declined a session: " + declined.message;
    co_return false;
  }
  session.worker->on_activity([&session] { session.signal.ring(); });
  Frame start;
  start.bytes = session.start;
  co_await session.worker->send(std::move(start));
  co_return co_await await_ready(session, why);
}

asio::awaitable<bool> Gateway::State::await_ready(LiveSession& session, std::string& why) {
  const auto until = Clock::now() + options.ready_within;
  for (;;) {
    if (std::optional<Frame> frame = session.worker->poll()) {
      const std::string type = frame->text ? type_of(frame->bytes) : "";
      session.client.offer(std::move(*frame));
      if (type == "session.ready") break;
      if (type != "error") continue;
      // The client asked for something that is not there: no fault of the GPU.
      session.client.close(CloseCode::refused, "the worker refused the session");
      co_await end_lease(session);
      co_return false;
    }
    if (client_leaves(session) || stopping) co_return false;
    if (!session.worker->open() || Clock::now() >= until) {
      why = session.worker->open() ? "the worker did not get a session ready in time"
                                   : "the worker ended the session before it was ready";
      co_return false;
    }
    co_await session.signal.wait(until);
  }
  ++counts.sessions;
  const double waited = std::chrono::duration<double>(Clock::now() - session.arrived).count();
  const auto* const bound = std::lower_bound(k_wait_bounds.begin(), k_wait_bounds.end(), waited);
  counts.waits.at(static_cast<std::size_t>(bound - k_wait_bounds.begin())) += 1;
  counts.waits_sum += waited;
  co_return true;
}

asio::awaitable<void> Gateway::State::to_worker(LiveSession& session) {
  while (std::optional<Frame> frame = co_await session.client.receive()) {
    counts.bytes_to_worker += frame->bytes.size();
    if (!co_await session.worker->send(std::move(*frame))) break;
  }
}

// Both directions at once, each with its own bounded queues: a side that does not read holds up
// only what is meant for it.
asio::awaitable<void> Gateway::State::relay(LiveSession& session) {
  session.relaying = true;
  session.client.on_activity({});
  session.worker->on_activity({});
  const Lease lease = *session.lease;
  asio::co_spawn(
      threads,
      [this, lease]() -> asio::awaitable<void> {
        try {
          allocator.connected(lease);
        } catch (const std::exception& error) {
          log::warn("the next GPU could not be prepared", {{"error", error.what()}});
        }
        co_return;
      },
      asio::detached);

  int running = 2;
  bool client_ended = false;
  const auto done = [&](std::exception_ptr) {
    --running;
    session.signal.ring();
  };
  asio::co_spawn(
      io,
      [](State& self, LiveSession& live, bool& ended) -> asio::awaitable<void> {
        co_await self.to_worker(live);
        ended = true;
      }(*this, session, client_ended),
      done);
  asio::co_spawn(
      io,
      [](State& self, LiveSession& live) -> asio::awaitable<void> {
        while (std::optional<Frame> frame = co_await live.worker->receive()) {
          self.counts.bytes_to_client += frame->bytes.size();
          if (!co_await live.client.send(std::move(*frame))) break;
        }
      }(*this, session),
      done);

  while (running == 2 && !session.lease_lost) co_await session.signal.wait();
  if (session.lease_lost) {
    ++counts.lease_lost;
    refuse(session, "lease_lost", "the pool gave this slot to others", 1, CloseCode::failed);
  } else if (!client_ended && session.client.open()) {
    const auto farewell = session.worker->peer_close();
    if (farewell && farewell->first != static_cast<std::uint16_t>(CloseCode::failed)) {
      session.client.close(static_cast<CloseCode>(farewell->first), farewell->second);
    } else {
      ++counts.worker_lost;
      refuse(session, "worker_lost", "the GPU of this session was lost; start again", 1,
             CloseCode::failed);
      session.lease.reset();
      const std::string why = "its worker was lost in a session";
      co_await on_store([&] { allocator.worker_lost(lease, why); });
    }
  }
  // The slot is free for others before the last frames are gone.
  session.worker->close(CloseCode::normal, "");
  session.client.close(CloseCode::normal, "");
  co_await end_lease(session);
  while (running > 0) co_await session.signal.wait();
}

asio::awaitable<void> Gateway::State::end_lease(LiveSession& session) {
  try {
    if (session.lease) {
      const Lease lease = *std::exchange(session.lease, std::nullopt);
      co_await on_store([&] { allocator.release(lease); });
    } else if (!session.start.empty() && !session.relaying) {
      const WaiterId waiter = session.claimant.id;
      co_await on_store([&] { allocator.leave(waiter); });
    }
  } catch (const Error& error) {
    log::warn("a lease is left to run out", {{"error", error.what()}});
  }
}

}  // namespace navtalk::server
