#include "server/gateway/session/session.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "server/gateway/access/bound_start.h"
#include "server/gateway/session/slot_search.h"
#include "server/protocol/control_frame.h"
#include "server/protocol/start_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Clock = Signal::Clock;
using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

namespace {

Claimant claimant_of(const SessionPermit& permit) {
  return {.tenant = permit.who.tenant,
          .plan = permit.limits.plan,
          .weight = permit.limits.weight,
          .max_sessions = permit.limits.max_sessions,
          .max_waiting = permit.limits.max_waiting};
}

double in_tenths(Clock::duration time) {
  return std::round(std::chrono::duration<double>(time).count() * 10) / 10;
}

}  // namespace

Session::Session(asio::any_io_executor executor, const SessionParts& parts, Arrival arrival)
    : executor_(std::move(executor)),
      parts_(parts),
      arrived_(arrival.at),
      events_(executor_),
      client_(std::move(arrival.connection), events_.signal),
      claim_(parts.allocator, parts.threads, events_.signal, claimant_of(arrival.permit)),
      user_(std::move(arrival.user)),
      permit_(std::move(arrival.permit)),
      start_(bound_start(arrival.start, permit_)),
      trace_(parts.options.traces, arrived_) {}

Session::~Session() { parts_.tokens.revoke(*this); }

asio::awaitable<void> Session::run() {
  try {
    co_await live();
  } catch (const std::exception& error) {
    log::error("a session failed", {{"session", claim_.id().text}, {"error", error.what()}});
    client_.refuse("failed", "internal error; try again", 5, CloseCode::failed);
  }
  parts_.tokens.revoke(*this);
  co_await claim_.release();
  report();
  trace_.over(claim_.id().text, permit_.who.tenant.text, Clock::now());
}

asio::awaitable<void> Session::live() {
  const bool allowed = co_await may_begin();
  if (!allowed) co_return;
  std::optional<Ready> ready = co_await find_worker();
  if (!ready) co_return;
  parts_.counters.count_ready(Clock::now() - arrived_);
  trace_.ready(*claim_.lease(), Clock::now() - claim_.age(), Clock::now());
  const std::string tenant = permit_.who.tenant.text;
  log::info("a session begins",
            {{"session", claim_.id().text}, {"gpu", claim_.lease()->gpu.text}, {"tenant", tenant}});
  if (permit_.max_session > Duration{}) permit_ends_at_ = Clock::now() + permit_.max_session;
  keep_ready(ready->frame);
  send_ready();
  client_.may_return(parts_.options.resume_within);
  co_await serve(std::move(*ready));
  log::info("a session is over", {{"session", claim_.id().text}, {"tenant", tenant}});
}

asio::awaitable<bool> Session::may_begin() {
  if (!permit_.begin) co_return true;
  const std::optional<StartRefusal> refusal = co_await permit_.begin();
  if (refusal) client_.refuse(refusal->code, refusal->message, {}, CloseCode::refused);
  co_return !refusal;
}

asio::awaitable<std::optional<Ready>> Session::find_worker() {
  SlotSearch::Parts parts{.client = client_,
                          .claim = claim_,
                          .events = events_,
                          .counters = parts_.counters,
                          .suspects = parts_.suspects,
                          .shortages = parts_.shortages,
                          .options = parts_.options,
                          .user = user_,
                          .store_patience = parts_.allocator.options().queue_timeout};
  if (relay_ != nullptr) parts.lease_ended = [this] { report(); };
  SlotSearch search(std::move(parts), [this] {
    return start_for_worker(
        nlohmann::json::parse(start_),
        relay_ != nullptr ? relay_->stream().position(Clock::now()) : std::nullopt);
  });
  co_return co_await search.run();
}

void Session::keep_ready(const Frame& ready) {
  Json frame = Json::parse(ready.bytes);
  frame["session"] = claim_.id().text;
  ready_ = frame.dump();
}

void Session::send_ready() {
  Json frame = Json::parse(ready_);
  frame["resume_token"] = parts_.tokens.issue(*this);
  client_.offer(control_frame(frame));
}

asio::awaitable<void> Session::serve(Ready ready) {
  if (const auto& connection = client_.connection()) connection->socket->read_freely();
  Relay relay(client_, {.executor = executor_,
                        .counters = parts_.counters,
                        .changed = events_.signal,
                        .options = parts_.options,
                        .draining =
                            [this](std::chrono::milliseconds notice) {
                              worker_drains_ = true;
                              return draining_frame(notice, parts_.tokens.of(*this));
                            },
                        .undrained =
                            [this] {
                              if (std::exchange(worker_drains_, false)) tell_undrained();
                            }});
  relay_ = &relay;
  std::exception_ptr problem;
  try {
    claim_.served();
    begin_service();
    relay.start();
    relay.use(std::move(ready.worker), false);
    bool goes_on = true;
    while (goes_on) {
      goes_on = co_await serve_until_lost(relay);
      if (goes_on) goes_on = co_await change_worker(relay);
    }
  } catch (...) {
    problem = std::current_exception();
  }
  // Whatever happened, the directions end before what they refer to; and the slot is free for
  // others before the last frames are gone.
  if (unreported_ && unreported_->ended == Clock::time_point{}) end_service(false);
  parts_.tokens.revoke(*this);
  user_.clear();
  relay.close();
  co_await claim_.release();
  report();
  co_await relay.finished();
  if (const auto at = relay.first_picture_at()) trace_.first_picture(*at);
  relay_ = nullptr;
  if (problem) std::rethrow_exception(problem);
}

asio::awaitable<bool> Session::serve_until_lost(Relay& relay) {
  const Clock::duration every = parts_.options.worker_silence / Relay::k_ticks;
  auto next_tick = Clock::now() + every;
  for (;;) {
    if (client_.away()) relay.note_away();
    if (client_.ended() || (client_.away() && events_.draining)) co_return false;
    bool silent = false;
    if (Clock::now() >= next_tick) {
      silent = relay.tick();
      next_tick = Clock::now() + every;
    }
    const bool lost = relay.worker_over() && !relay.farewell();
    if (claim_.lease_lost() || (relay.worker_over() && !lost)) {
      part(relay);
      co_return false;
    }
    if (lost || silent) co_return true;
    const auto gpu_ends_at = gpu_ends_at_.value_or(Clock::time_point::max());
    if (Clock::now() >= gpu_ends_at) {
      // Nobody knows when a GPU will be back in service.
      client_.refuse("drained", "the GPU of this session is taken out of service; start again",
                     last_gpu_ends_ ? std::nullopt : std::optional(1.0), CloseCode::going_away);
      co_return false;
    }
    if (Clock::now() >= permit_ends_at_) {
      client_.refuse("session_over", "the session has lasted as long as its browser token allows",
                     {}, CloseCode::refused);
      co_return false;
    }
    const auto until = std::min({next_tick, client_.leaves_at(), gpu_ends_at, permit_ends_at_});
    co_await events_.signal.wait(until);
  }
}

void Session::part(const Relay& relay) {
  if (claim_.lease_lost()) {
    ++parts_.counters.lease_lost;
    client_.refuse("lease_lost", "the pool gave this slot to others", 1, CloseCode::failed);
    return;
  }
  const Relay::Farewell farewell = relay.farewell().value();
  if (farewell.error) client_.offer(*farewell.error);
  client_.close(farewell.code, farewell.error ? error_code_of(*farewell.error) : "");
}

asio::awaitable<bool> Session::change_worker(Relay& relay) {
  end_service(true);
  trace_.lost_worker(Clock::now());
  gpu_ends_at_.reset();
  worker_drains_ = false;
  relay.drop_worker();
  claim_.refuse(unreported_->lease.gpu);
  claim_.lose_gpu();
  log::warn("the worker of a session is lost; it gets another one",
            {{"session", claim_.id().text}, {"gpu", unreported_->lease.gpu.text}});
  client_.tell_frames(events_.signal);
  std::optional<Ready> ready = co_await find_worker();
  if (!ready) co_return false;
  ++parts_.counters.workers_changed;
  trace_.new_worker(*claim_.lease(), Clock::now());
  keep_ready(ready->frame);
  const Json now = Json::parse(ready_);
  Json changed = {{"type", frame_type::worker_changed},
                  {"gap_s", in_tenths(relay.stream().since_last(Clock::now()))}};
  for (const char* media : {"video", "audio"}) {
    if (now.contains(media)) changed[media] = now[media];
  }
  client_.offer(control_frame(changed));
  claim_.served();
  begin_service();
  relay.use(std::move(ready->worker), true);
  co_return true;
}

void Session::begin_service() {
  unreported_ = {.lease = *claim_.lease(), .user = user_, .began = Clock::now()};
}

void Session::end_service(bool cut) {
  unreported_->ended = Clock::now();
  unreported_->age = claim_.age();
  unreported_->cut = cut;
}

void Session::report() {
  if (!unreported_) return;
  const Service service = *std::exchange(unreported_, std::nullopt);
  const auto lasted = service.ended - service.began;
  if (lasted >= parts_.allocator.options().faults.lasting) {
    parts_.suspects.session_lasted(service.lease, service.user, service.age, service.cut);
  } else if (service.cut) {
    parts_.suspects.session_failed(service.lease, SessionFault::Kind::cut, service.user,
                                   "its connection was cut in a session", service.age);
  }
}

void Session::note_pool_change() {
  if (relay_ != nullptr && relay_->has_worker()) return;
  events_.pool_changed = true;
  events_.signal.notify();
}

void Session::note_drains(const DrainWatch::Ends& ends) {
  const auto found =
      relay_ != nullptr && claim_.lease() ? ends.find(claim_.lease()->gpu) : ends.end();
  if (found == ends.end()) {
    if (std::exchange(gpu_ends_at_, std::nullopt)) tell_undrained();
    return;
  }
  // The store's clock and this one differ a little from look to look.
  last_gpu_ends_ = found->second.last;
  const bool told = gpu_ends_at_ && std::chrono::abs(*gpu_ends_at_ - found->second.at) < 1s;
  if (told) return;
  gpu_ends_at_ = found->second.at;
  tell_drain();
  events_.signal.notify();
}

void Session::tell_drain() {
  const auto left = std::max(Clock::duration{}, *gpu_ends_at_ - Clock::now());
  client_.offer(
      draining_frame(std::chrono::round<std::chrono::milliseconds>(left), parts_.tokens.of(*this)));
}

void Session::tell_undrained() {
  if (gpu_ends_at_ || worker_drains_ || events_.draining) return;
  missed_undrained_ = client_.away();
  client_.offer(bare_frame(frame_type::undrained));
}

void Session::resume(std::shared_ptr<ClientConnection> connection) {
  ++parts_.counters.resumed;
  connection->socket->read_freely();
  client_.attach(std::move(connection));
  send_ready();
  if (relay_ != nullptr) relay_->note_return();
  if (gpu_ends_at_) tell_drain();
  if (std::exchange(missed_undrained_, false)) tell_undrained();
  events_.returned = true;
  events_.signal.notify();
}

void Session::drain(std::chrono::milliseconds notice) {
  if (relay_ != nullptr) client_.offer(draining_frame(notice, parts_.tokens.of(*this)));
  events_.draining = true;
  events_.signal.notify();
}

void Session::note_revocations() {
  const auto& connection = client_.connection();
  if (!permit_.revoked() && (!connection || !connection->revoked())) return;
  if (client_.ended()) return;
  ++parts_.counters.revoked;
  log::info("a session ends because its key was revoked",
            {{"session", claim_.id().text}, {"tenant", permit_.who.tenant.text}});
  parts_.tokens.revoke(*this);
  client_.refuse(key_revoked_frame());
  events_.signal.notify();
}

void Session::end_drained() {
  client_.refuse("drained", "this gateway is going away", 1, CloseCode::going_away);
  events_.signal.notify();
}

}  // namespace navtalk::server
