#include "server/worker/session/worker_sessions.h"

#include <malloc.h>

#include "core/log/log.h"
#include "scheduler/health/worker_protocol.h"
#include "server/http/as_tuple.h"
#include "server/protocol/control_frame.h"
#include "server/worker/job/worker_job.h"
#include "server/worker/session/slot_request.h"
#include "server/worker/session/worker_session.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

// What waits for the gateway: sound for 20 s, so that none is lost after this process stood still.
constexpr std::size_t k_unsent_frames = 500, k_unsent_bytes = 4 << 20;

}  // namespace

// However a session ends, by an exception too: its slot is free then, and nobody writes to its
// socket any more.
class WorkerSessions::HeldSlot {
 public:
  HeldSlot(WorkerSessions& all, SessionNumber number) : all_(all), number_(number) {}
  ~HeldSlot() {
    all_.open_.erase(number_);
    all_.slots_.close(number_);
    if (all_.open_.empty()) all_.all_over_.cancel();
  }
  HeldSlot(const HeldSlot&) = delete;
  HeldSlot& operator=(const HeldSlot&) = delete;

 private:
  WorkerSessions& all_;
  SessionNumber number_;
};

WorkerSessions::WorkerSessions(const asio::any_io_executor& executor, ModelLifecycle& models,
                               DeviceRoom& room, LiveThreads threads, Renderers& renderers,
                               BlockingThreads& files, WorkerSessionOptions options)
    : models_(models),
      room_(room),
      threads_(threads),
      renderers_(renderers),
      files_(files),
      options_(std::move(options)),
      slots_(options_.slots),
      all_over_(executor, asio::steady_timer::time_point::max()) {}

std::string WorkerSessions::state() const {
  return std::string(name(pool_state(models_.phase(), draining_, count())));
}

asio::awaitable<std::optional<Response>> WorkerSessions::session(const Request& request,
                                                                 Upgrade& upgrade) {
  if (room_.full()) {
    ++counters_.refused;
    co_return error_response(503, k_no_memory, "this worker has no memory for another session now");
  }
  const Holder holder = [this](WebSocket& socket, SessionNumber number) {
    ++counters_.sessions;
    return std::make_unique<WorkerSession>(socket, number, models_, room_, threads_, counters_,
                                           options_.default_avatar);
  };
  co_return co_await hold(request, upgrade, holder);
}

asio::awaitable<std::optional<Response>> WorkerSessions::job(const Request& request,
                                                             Upgrade& upgrade) {
  if (!renderers_.available())
    co_return error_response(404, "not_found", "this worker renders no jobs");
  const std::shared_ptr<Renderers::Place> place = renderers_.reserve();
  if (!place) {
    ++counters_.refused;
    co_return error_response(503, k_no_memory,
                             "this worker has no memory for another job now: " +
                                 renderers_.needs() + " are reserved for each");
  }
  const Holder holder = [this, place](WebSocket& socket, SessionNumber) {
    ++counters_.jobs;
    return std::make_unique<WorkerJob>(socket, place, files_);
  };
  co_return co_await hold(request, upgrade, holder);
}

asio::awaitable<std::optional<Response>> WorkerSessions::hold(const Request& request,
                                                              Upgrade& upgrade, Holder holder) {
  const SlotRequest asked = parse_slot_request(request);
  if (!serving() || models_.stuck()) {
    ++counters_.refused;
    const std::string now = models_.stuck() ? std::string(k_stuck) : state();
    co_return error_response(503, now, "this worker takes no sessions now: it is " + now);
  }
  const SlotAnswer answer = slots_.open(asked);
  if (answer.verdict != SlotAnswer::Verdict::opened) {
    ++counters_.refused;
    co_return refusal_of(answer, asked);
  }
  if (answer.ended) end(*answer.ended, k_superseded, "a newer session took this slot");
  SocketLimits limits;
  limits.idle_timeout = options_.peer_idle_timeout;
  limits.unsent_frames = k_unsent_frames;
  limits.unsent_bytes = k_unsent_bytes;
  const NamedValues headers = {{k_protocol_header, std::to_string(k_worker_protocol)}};
  std::unique_ptr<WebSocket> socket;  // outlives the held slot
  {
    const HeldSlot held(*this, answer.session);
    socket = co_await upgrade.accept(limits, headers);
    if (socket) {
      log::info("slot taken", {{"path", request.path}, {"lease", asked.lease}});
      co_await run(*socket, answer, holder);
      log::info("slot free", {{"path", request.path}, {"lease", asked.lease}});
    }
  }
  models_.drop_surplus();  // what this session held, perhaps
  if (!socket) co_return std::nullopt;
  files_.post([] { ::malloc_trim(0); });  // large pictures leave much behind
  co_await socket->finished();
  co_return std::nullopt;
}

asio::awaitable<void> WorkerSessions::run(WebSocket& socket, const SlotAnswer& answer,
                                          const Holder& holder) {
  const std::unique_ptr<SlotHolder> session = holder(socket, answer.session);
  open_.emplace(answer.session, session.get());
  end_if_late(answer);
  co_await session->run();
  open_.erase(answer.session);
}

// Much may have happened while the handshake ran.
void WorkerSessions::end_if_late(const SlotAnswer& answer) {
  const auto& held = slots_.slots()[static_cast<std::size_t>(answer.slot)].session;
  if (held != answer.session) {
    end(answer.session, k_superseded, "a newer session took this slot");
  } else if (!serving()) {
    end(answer.session, "drained", "this worker takes no sessions any more");
  }
}

void WorkerSessions::end(SessionNumber number, std::string_view code, std::string_view message) {
  const auto found = open_.find(number);
  if (found != open_.end()) found->second->end(code, message);
}

void WorkerSessions::begin_drain(std::chrono::milliseconds notice) {
  draining_ = true;
  for (const auto& [number, session] : open_) session->offer(draining_frame(notice));
}

void WorkerSessions::cancel_drain() {
  if (std::exchange(draining_, false)) {
    for (const auto& [number, session] : open_) session->offer(bare_frame(frame_type::undrained));
  }
  ++cancelled_drains_;
  all_over_.cancel();
}

asio::awaitable<void> WorkerSessions::give_away(std::string why) {
  while (count() > 0) {
    for (const auto& [number, session] : open_) session->end(name(Code::failed), why);
    co_await all_over_.async_wait(k_tuple);
  }
}

asio::awaitable<void> WorkerSessions::end_sessions(std::chrono::milliseconds notice) {
  return end_sessions(Clock::now() + notice, cancelled_drains_);
}

asio::awaitable<void> WorkerSessions::end_sessions(Clock::time_point until, int before) {
  while (!open_.empty() && cancelled_drains_ == before && Clock::now() < until) {
    if (until < all_over_.expiry()) all_over_.expires_at(until);
    co_await all_over_.async_wait(k_tuple);
  }
  all_over_.expires_at(Clock::time_point::max());  // the others set it to theirs
  if (cancelled_drains_ != before) co_return;
  for (const auto& [number, session] : open_) session->end("drained", "this worker is going away");
}

}  // namespace navtalk::server
