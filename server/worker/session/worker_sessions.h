// All sessions and jobs of one worker: who may open one, who holds which slot, and the end of all of them in
// a drain or at the end of the process. Of the I/O thread.
//
//   open ── begin_drain() ──► draining: no new sessions ── end_sessions(): the notice is over
//     ▲                          │
//     └───── cancel_drain() ─────┘
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "server/http/socket/web_socket.h"
#include "server/worker/device/device_room.h"
#include "server/worker/job/renderers.h"
#include "server/worker/model_lifecycle.h"
#include "server/worker/session/slot_table.h"
#include "server/worker/session/worker_session.h"

namespace navtalk::server {

struct WorkerSessionOptions {
  int slots = 1;
  std::string default_avatar{};                         // of sessions that name none
  std::chrono::milliseconds peer_idle_timeout{40'000};  // pings included
};

class WorkerSessions {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  WorkerSessions(const boost::asio::any_io_executor& executor, ModelLifecycle& models,
                 DeviceRoom& room, LiveThreads threads, Renderers& renderers,
                 BlockingThreads& files, WorkerSessionOptions options);
  WorkerSessions(const WorkerSessions&) = delete;
  WorkerSessions& operator=(const WorkerSessions&) = delete;

  // GET /v1/session: one session, until it is over.
  Awaitable<std::optional<Response>> session(const Request& request, Upgrade& upgrade);
  // GET /v1/job: one job, which holds a slot as a session does.
  Awaitable<std::optional<Response>> job(const Request& request, Upgrade& upgrade);

  // No new sessions; those that are open are told how long they may go on.
  void begin_drain(std::chrono::milliseconds notice);
  // Waits until they are over, and ends those that are left after the notice; of several notices that
  // run, the first to be over counts. Returns at once when the drain is cancelled.
  Awaitable<void> end_sessions(std::chrono::milliseconds notice);
  void cancel_drain();
  // Ends all with the error `failed`, so that the pool gives them to other workers, and waits until they are over. While no others
  // come: serving() is false.
  Awaitable<void> give_away(std::string why);

  // Takes sessions, unless the work loop is stuck.
  bool serving() const { return models_.phase() == Phase::ready && !draining_; }
  // One of the pool's states, by name.
  std::string state() const;
  int count() const { return slots_.sessions(); }
  const SlotTable& slots() const { return slots_; }
  const WorkerSessionCounters& counters() const { return counters_; }

 private:
  class HeldSlot;
  using Holder = std::function<std::unique_ptr<SlotHolder>(WebSocket&, SessionNumber)>;
  Awaitable<std::optional<Response>> hold(const Request& request, Upgrade& upgrade, Holder holder);
  Awaitable<void> run(WebSocket& socket, const SlotAnswer& answer, const Holder& holder);
  void end_if_late(const SlotAnswer& answer);
  // `before`: how many drains were cancelled when this one began.
  Awaitable<void> end_sessions(std::chrono::steady_clock::time_point until, int before);
  void end(SessionNumber number, std::string_view code, std::string_view message);

  ModelLifecycle& models_;
  DeviceRoom& room_;
  const LiveThreads threads_;
  Renderers& renderers_;
  BlockingThreads& files_;
  const WorkerSessionOptions options_;
  SlotTable slots_;
  std::map<SessionNumber, SlotHolder*> open_{};
  WorkerSessionCounters counters_{};
  // Cancelled when the last session is over. It expires when the first notice does that runs: whoever
  // waits may bring that forward, so that several do not wake each other again and again.
  boost::asio::steady_timer all_over_;
  int cancelled_drains_ = 0;
  bool draining_ = false;
};

}  // namespace navtalk::server
