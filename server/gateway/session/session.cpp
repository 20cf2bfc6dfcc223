#include "server/gateway/session/session.h"

#include "core/log/log.h"
#include "server/gateway/access/bound_start.h"
#include "server/gateway/session/relay.h"
#include "server/gateway/session/slot_search.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Clock = Signal::Clock;

namespace {

Claimant claimant_of(const SessionPermit& permit) {
  return {.tenant = permit.who.tenant,
          .plan = permit.limits.plan,
          .weight = permit.limits.weight,
          .max_sessions = permit.limits.max_sessions,
          .max_waiting = permit.limits.max_waiting};
}

}  // namespace

Session::Session(WebSocket& socket, asio::any_io_executor executor, const SessionParts& parts,
                 std::string user, SessionPermit permit)
    : executor_(std::move(executor)),
      parts_(parts),
      events_(executor_),
      client_(socket, events_.signal),
      claim_(parts.allocator, parts.threads, events_.signal, claimant_of(permit)),
      user_(std::move(user)),
      permit_(std::move(permit)) {
  socket.on_activity([this] { events_.signal.notify(); });
}

Session::~Session() { client_.socket().on_activity({}); }

asio::awaitable<void> Session::run() {
  try {
    co_await live();
  } catch (const std::exception& error) {
    log::error("a session failed", {{"session", claim_.id().text}, {"error", error.what()}});
    client_.refuse("failed", "internal error; try again", 5, CloseCode::failed);
  }
  co_await claim_.release();
}

asio::awaitable<void> Session::live() {
  const bool started = co_await receive_start();
  if (!started) co_return;
  const bool allowed = co_await may_begin();
  if (!allowed) co_return;
  SlotSearch search({.client = client_,
                     .claim = claim_,
                     .events = events_,
                     .counters = parts_.counters,
                     .suspects = parts_.suspects,
                     .shortages = parts_.shortages,
                     .options = parts_.options,
                     .user = user_,
                     .store_patience = parts_.allocator.options().queue_timeout},
                    start_);
  const std::unique_ptr<WebSocket> worker = co_await search.run();
  if (!worker) co_return;
  parts_.counters.count_ready(Clock::now() - arrived_);
  const std::string gpu = claim_.lease()->gpu.text, tenant = permit_.who.tenant.text;
  log::info("a session begins", {{"session", claim_.id().text}, {"gpu", gpu}, {"tenant", tenant}});
  co_await relay(*worker);
  log::info("a session is over", {{"session", claim_.id().text}, {"gpu", gpu}, {"tenant", tenant}});
}

asio::awaitable<bool> Session::may_begin() {
  start_ = bound_start(start_, permit_);
  if (!permit_.begin) co_return true;
  const std::optional<StartRefusal> refusal = co_await permit_.begin();
  if (refusal) client_.refuse(refusal->code, refusal->message, {}, CloseCode::refused);
  co_return !refusal;
}

asio::awaitable<bool> Session::receive_start() {
  const auto until = Clock::now() + parts_.options.start_within;
  for (;;) {
    if (const std::optional<Frame> frame = client_.socket().poll()) {
      if (auto refusal = frame->text ? start_too_long(frame->bytes) : std::nullopt) {
        client_.refuse(std::move(*refusal), "invalid");
        co_return false;
      }
      if (frame->text && type_of(frame->bytes) == frame_type::start) {
        start_ = frame->bytes;
        co_return true;
      }
      client_.refuse("usage", "the first frame must be session.start, a JSON object", {},
                     CloseCode::refused);
      co_return false;
    }
    if (client_.refused_as_too_fast() || !client_.socket().open()) co_return false;
    if (events_.draining || Clock::now() >= until) {
      client_.refuse("usage", "no session.start came in time", {}, CloseCode::refused);
      co_return false;
    }
    co_await events_.signal.wait(until);
  }
}

asio::awaitable<void> Session::relay(WebSocket& worker) {
  relaying_ = true;
  client_.socket().on_activity({});
  client_.socket().read_freely();
  worker.on_activity({});
  Relay relay(client_.socket(), worker,
              {.executor = executor_,
               .counters = parts_.counters,
               .changed = events_.signal,
               .control_frames = parts_.options.control_frames,
               .seat = permit_.seat.get()});
  const Lease lease = *claim_.lease();
  const auto ready = Clock::now();
  bool cut = false;
  std::exception_ptr problem;
  try {
    claim_.served();
    relay.start();
    const auto until =
        permit_.max_session > Duration{} ? ready + permit_.max_session : Clock::time_point::max();
    while (relay.open() && !claim_.lease_lost() && Clock::now() < until)
      co_await events_.signal.wait(until);
    if (relay.open() && !claim_.lease_lost()) {
      client_.refuse("session_over", "the session has lasted as long as its browser token allows",
                     {}, CloseCode::refused);
    }
    cut = tell_end(worker, relay.client_ended());
  } catch (...) {
    problem = std::current_exception();
  }
  // Whatever happened, the directions end before what they refer to; and the slot is free for
  // others before the last frames are gone.
  const auto lasted = Clock::now() - ready, age = claim_.age();
  const std::string user = std::exchange(user_, {});
  relay.close();
  co_await claim_.release();
  report(lease, {.lasted = lasted, .age = age, .cut = cut}, user);
  co_await relay.finished();
  if (problem) std::rethrow_exception(problem);
}

void Session::report(const Lease& lease, const Ending& ending, const std::string& user) {
  if (ending.lasted >= parts_.allocator.options().faults.lasting) {
    parts_.suspects.session_lasted(lease, user, ending.age, ending.cut);
  } else if (ending.cut) {
    parts_.suspects.session_failed(lease, SessionFault::Kind::cut, user,
                                   "its connection was cut in a session", ending.age);
  }
}

bool Session::tell_end(const WebSocket& worker, bool client_ended) {
  if (claim_.lease_lost()) {
    ++parts_.counters.lease_lost;
    client_.refuse("lease_lost", "the pool gave this slot to others", 1, CloseCode::failed);
    return false;
  }
  if (client_ended || !client_.socket().open()) return false;
  const auto farewell = worker.peer_close();
  if (farewell && farewell->first != static_cast<std::uint16_t>(CloseCode::failed)) {
    client_.socket().close(static_cast<CloseCode>(farewell->first), farewell->second);
    return false;
  }
  ++parts_.counters.worker_lost;
  client_.refuse("worker_lost", "the GPU of this session was lost; start again", 1,
                 CloseCode::failed);
  return true;
}

void Session::note_pool_change() {
  if (relaying_) return;
  events_.pool_changed = true;
  events_.signal.notify();
}

void Session::drain(const Frame& notice) {
  if (relaying_) client_.offer(notice);
  events_.draining = true;
  events_.signal.notify();
}

void Session::end_drained() {
  client_.refuse("drained", "this gateway is going away", 1, CloseCode::going_away);
}

}  // namespace navtalk::server
