#include "server/gateway/session/slot_search.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;
using Clock = Signal::Clock;
using Json = nlohmann::ordered_json;

namespace {

constexpr auto k_check_every = 1s;     // in the queue, where no event says that time has passed
constexpr double k_eta_changed_s = 2;  // an ETA that moved by more is shown
// A session that so many workers cannot start may itself be what fails them: it gets no more.
constexpr int k_failed_starts = 3;
constexpr int k_fenced = 3;
constexpr int k_full_workers = 10;  // with growing pauses for each GPU
constexpr double k_shortage_retry_after_s = 10;
constexpr std::string_view k_store_unavailable = "store_unavailable";
constexpr std::string_view k_withdrawn = "withdrawn";
constexpr Duration k_store_retry_after = 10s;
constexpr auto k_store_late = 1500ms;  // an answer that takes longer: the client is told

Frame queue_update(const Waiting& waiting) {
  Json update = {
      {"type", frame_type::queue_update}, {"position", waiting.position}, {"eta_s", nullptr}};
  // Tenths: nobody can promise more.
  if (waiting.eta) update["eta_s"] = std::round(in_seconds(*waiting.eta) * 10) / 10;
  if (waiting.withdrawn) {
    update["code"] = k_withdrawn;
    update["message"] =
        "every GPU is taken out of service; your place in the queue is kept until one is back";
  }
  return control_frame(update);
}

// In a frame that every client knows, so that nobody takes it for an end. `place`: the last one that
// was shown, if any.
Frame store_away(const Waiting& place) {
  Json update = {{"type", frame_type::queue_update},
                 {"position", nullptr},
                 {"eta_s", nullptr},
                 {"code", k_store_unavailable},
                 {"message", "the pool's store cannot be reached; the gateway tries again"}};
  if (place.position > 0) {
    update["position"] = place.position;
    update["message"] = "the pool's store cannot be reached; your place in the queue is kept";
  }
  return control_frame(update);
}

// A client counts down by itself; only what differs from that is worth a frame.
bool has_changed(const Waiting& now, const Waiting& shown, double since_s) {
  if (now.position != shown.position || now.eta.has_value() != shown.eta.has_value()) return true;
  if (now.withdrawn != shown.withdrawn) return true;
  if (!now.eta) return false;
  const double expected = std::max(0.0, in_seconds(*shown.eta) - since_s);
  return std::abs(in_seconds(*now.eta) - expected) > k_eta_changed_s;
}

}  // namespace

asio::awaitable<std::optional<Ready>> SlotSearch::run() {
  for (;;) {
    if (std::exchange(parts_.events.returned, false)) {
      shown_ = {};
      told_away_ = false;
    }
    const std::optional<Allocation> allocation = co_await ask_in_time();
    Next next{};
    if (allocation) {
      next = co_await follow(*allocation);
    } else {
      next = co_await wait_for_store();
    }
    if (next != Next::check_again) break;
  }
  co_return std::move(ready_);
}

asio::awaitable<std::optional<Allocation>> SlotSearch::ask_in_time() {
  // Its end is that of the question: the timer's handler may come later.
  const auto asking = std::make_shared<SlotSearch*>(this);
  asio::steady_timer late(co_await asio::this_coro::executor, k_store_late);
  late.async_wait([question = std::weak_ptr(asking)](const boost::system::error_code& ended) {
    const auto search = question.lock();
    if (!ended && search) (*search)->tell_store_away();
  });
  co_return co_await ask();
}

asio::awaitable<std::optional<Allocation>> SlotSearch::ask() {
  try {
    if (parts_.claim.must_end_lease()) {
      co_await parts_.claim.end_lease();
      parts_.lease_ended();
    }
    parts_.claim.avoid(parts_.suspects.avoided_by(parts_.user));
    std::optional<Allocation> allocation;
    if (arrived_) {
      allocation = co_await parts_.claim.check();
    } else {
      allocation = co_await parts_.claim.arrive();
    }
    arrived_ = true;
    away_since_.reset();
    told_away_ = false;
    co_return allocation;
  } catch (const Error& error) {
    if (error.code() != Code::failed) throw;
    if (!away_since_)
      log::warn("the store could not be asked for a slot", {{"error", error.what()}});
  }
  co_return std::nullopt;
}

asio::awaitable<SlotSearch::Next> SlotSearch::follow(const Allocation& allocation) {
  if (std::holds_alternative<Lease>(allocation)) co_return co_await try_worker();
  if (const auto* none = std::get_if<NoGpu>(&allocation)) co_return refuse(*none);
  const Next next = co_await wait_in_queue(std::get<Waiting>(allocation));
  if (next == Next::over) ++parts_.counters.left_queue;
  co_return next;
}

void SlotSearch::tell_store_away() {
  if (told_away_ && Clock::now() - told_at_ < parts_.options.queue_told_again) return;
  told_away_ = true;
  told_at_ = Clock::now();
  parts_.client.offer(store_away(place_));
  shown_ = {};  // what comes next is shown
}

// The database may come back; a place in the queue is still there then.
asio::awaitable<SlotSearch::Next> SlotSearch::wait_for_store() {
  const auto now = Clock::now();
  if (!away_since_) away_since_ = now;
  tell_store_away();
  if (now - *away_since_ >= parts_.store_patience) {
    co_return refuse(k_store_unavailable, "the pool's store cannot be reached; try again later",
                     in_seconds(k_store_retry_after), CloseCode::try_again);
  }
  const Next next = co_await wait_for_change();
  if (next == Next::over) ++parts_.counters.left_queue;
  co_return next;
}

asio::awaitable<SlotSearch::Next> SlotSearch::try_worker() {
  place_.withdrawn = false;  // it was given a slot
  if (place_.position > 0 && Clock::now() - told_at_ >= parts_.options.queue_told_again)
    tell(place_);
  const OpenRequest request{.client = parts_.client,
                            .claim = parts_.claim,
                            .events = parts_.events,
                            .start = start_,
                            .options = parts_.options};
  Opening opening = co_await open_on_worker(request);
  co_return co_await after(std::move(opening));
}

asio::awaitable<SlotSearch::Next> SlotSearch::after(Opening opening) {
  if (const auto* lack = std::get_if<GatewayShort>(&opening)) co_return co_await try_later(*lack);
  shortages_ = 0;
  if (auto* ready = std::get_if<Ready>(&opening)) {
    parts_.shortages.well("sessions");
    ready_ = std::move(*ready);
    co_return Next::ready;
  }
  if (std::holds_alternative<ClientLeft>(opening)) co_return Next::over;
  if (std::holds_alternative<GatewayDrains>(opening)) co_return refuse_draining();
  auto* const refused = std::get_if<ClientRefused>(&opening);
  if (refused != nullptr && parts_.lease_ended) {
    // Another worker served the same request: this one lacks something.
    const WorkerFailed failed{.why = "the worker refused a session that began on another one",
                              .starting = true};
    co_return co_await fail_worker(failed);
  }
  if (refused != nullptr) {
    parts_.client.refuse(std::move(refused->error));
    co_return Next::over;
  }
  if (std::holds_alternative<LeaseLost>(opening)) {
    parts_.claim.drop_lease();
    co_return Next::check_again;
  }
  if (const auto* fenced = std::get_if<Fenced>(&opening)) co_return co_await give_up_lease(*fenced);
  if (const auto* full = std::get_if<WorkerFull>(&opening)) co_return co_await leave_full(*full);
  co_return co_await fail_worker(std::get<WorkerFailed>(opening));
}

// The GPU is well, and its slot free for the next claim, which has a higher epoch.
asio::awaitable<SlotSearch::Next> SlotSearch::give_up_lease(const Fenced& fenced) {
  if (++fenced_ >= k_fenced) {
    // A worker that takes every lease for old has a fault.
    const WorkerFailed failed{.why = "the worker takes new leases for old: " + fenced.why,
                              .starting = true,
                              .own_words = true};
    co_return co_await fail_worker(failed);
  }
  co_await parts_.claim.give_up();
  co_return parts_.client.left() ? Next::over : Next::check_again;
}

// The slot is for others meanwhile, whose gateways may have what this one lacks.
asio::awaitable<SlotSearch::Next> SlotSearch::try_later(const GatewayShort& lack) {
  ++parts_.counters.shortages;
  parts_.shortages.failed("sessions", lack.why);
  co_await parts_.claim.give_up();
  if (++shortages_ >= parts_.options.shortage_tries) {
    co_return refuse("no_capacity", "this gateway has as many connections as it may",
                     k_shortage_retry_after_s, CloseCode::try_again);
  }
  const auto until = Clock::now() + parts_.options.after_shortage;
  while (Clock::now() < until) {
    if (parts_.client.left()) co_return Next::over;
    if (parts_.events.draining) co_return refuse_draining();
    co_await parts_.events.signal.wait(until);
  }
  co_return Next::check_again;
}

// Its sessions that end make room, and other GPUs may have some: the pool is asked again, for any other slot first.
asio::awaitable<SlotSearch::Next> SlotSearch::leave_full(const WorkerFull& full) {
  const GpuId gpu = parts_.claim.lease()->gpu;
  log::warn("a worker has no room for a session", {{"gpu", gpu.text}, {"error", full.why}});
  parts_.claim.refuse(gpu);
  co_await parts_.claim.give_up();
  if (parts_.client.left()) co_return Next::over;
  if (++full_ < k_full_workers) co_return Next::check_again;
  co_return refuse("no_capacity", "no GPU has memory for this session now; try again later",
                   k_shortage_retry_after_s, CloseCode::try_again);
}

// Whether or not the client still waits: the next one may find the same.
asio::awaitable<SlotSearch::Next> SlotSearch::fail_worker(const WorkerFailed& failed) {
  ++parts_.counters.connect_failed;
  const Lease lease = *parts_.claim.lease();
  parts_.claim.refuse(lease.gpu);
  co_await parts_.claim.give_up();
  const auto kind =
      failed.own_words ? SessionFault::Kind::declined : SessionFault::Kind::not_started;
  parts_.suspects.session_failed(lease, kind, parts_.user, failed.why);
  if (parts_.client.left()) co_return Next::over;
  if (!failed.starting || ++failed_starts_ < k_failed_starts) co_return Next::check_again;
  if (parts_.lease_ended) co_return refuse("failed", "", 5, CloseCode::failed);
  parts_.client.refuse("failed", "several GPUs could not start this session; try again later", 5,
                       CloseCode::failed);
  co_return Next::over;
}

asio::awaitable<SlotSearch::Next> SlotSearch::wait_in_queue(const Waiting& waiting) {
  show(waiting);
  co_return co_await wait_for_change();
}

// Until something changed in the pool, or it is time to ask again.
asio::awaitable<SlotSearch::Next> SlotSearch::wait_for_change() {
  const auto until = Clock::now() + k_check_every;
  while (!parts_.events.pool_changed && !parts_.events.returned && Clock::now() < until) {
    if (parts_.client.left()) co_return Next::over;
    if (parts_.events.draining) co_return refuse_draining();
    co_await parts_.events.signal.wait(until);
  }
  parts_.events.pool_changed = false;
  co_return parts_.client.left() ? Next::over : Next::check_again;
}

void SlotSearch::show(const Waiting& waiting) {
  place_ = waiting;
  const auto now = Clock::now();
  const double since_s = std::chrono::duration<double>(now - shown_.at).count();
  if (now - told_at_ >= parts_.options.queue_told_again ||
      has_changed(waiting, shown_.waiting, since_s))
    tell(waiting);
}

void SlotSearch::tell(const Waiting& waiting) {
  parts_.client.offer(queue_update(waiting));
  told_at_ = Clock::now();
  shown_ = {waiting, told_at_};
}

SlotSearch::Next SlotSearch::refuse(const NoGpu& none) {
  const auto wait = none.retry_after ? std::optional(in_seconds(*none.retry_after)) : std::nullopt;
  return refuse(none.tenant_limit ? "tenant_limit" : "no_capacity", none.message, wait,
                CloseCode::try_again);
}

SlotSearch::Next SlotSearch::refuse(std::string_view code, std::string_view message,
                                    std::optional<double> retry_after_s, CloseCode close) {
  if (parts_.lease_ended) {
    ++parts_.counters.worker_lost;
    parts_.client.refuse("worker_lost",
                         "the GPU of this session was lost, and no other one was free; start again",
                         1, CloseCode::failed);
  } else {
    ++parts_.counters.refused;
    parts_.client.refuse(code, message, retry_after_s, close);
  }
  return Next::over;
}

SlotSearch::Next SlotSearch::refuse_draining() {
  parts_.client.refuse("draining", "this gateway is going away", 1, CloseCode::going_away);
  return Next::over;
}

}  // namespace navtalk::server
