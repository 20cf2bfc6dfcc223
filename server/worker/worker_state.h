// The inside of a worker. Everything here lives on the I/O thread. Private to server/.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <optional>
#include <set>

#include "core/base/guarded.h"
#include "core/base/id.h"
#include "server/http/http_server.h"
#include "server/worker/slot_table.h"
#include "server/worker/work_loop.h"
#include "server/worker/worker.h"

namespace navtalk::server {

enum class WorkerPhase { starting, ready, pausing, paused, waking, failed };

struct Worker::State {
  using Clock = std::chrono::steady_clock;
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  State(WorkerOptions worker_options, Engine worker_engine);

  // --- routes: worker_routes.cpp
  Router routes();
  Awaitable<std::optional<Response>> check(const Request& request);
  Response healthz() const;
  std::string state() const;  // as scheduler/pool/state.h names it
  Response metrics() const;
  Awaitable<Response> pause();
  Awaitable<Response> wake();
  Awaitable<Response> prepare(const Request& request);
  Response drain(const Request& request);

  // --- life: worker.cpp
  Awaitable<void> load();
  Awaitable<AvatarSize> loaded_avatar(std::string id);
  Awaitable<void> watch_gateway();
  Awaitable<void> end_sessions(std::chrono::milliseconds notice);
  void announce_drain(std::chrono::milliseconds notice);
  void shut_down();
  bool stuck() const { return loop.since_turn() > options.stuck_after; }
  bool serving() const { return phase == WorkerPhase::ready && !draining; }

  // --- sessions: worker_session.cpp
  Awaitable<std::optional<Response>> session(const Request& request, Upgrade& upgrade);
  Awaitable<void> talk(WebSocket& socket, SessionNumber number);
  Awaitable<void> on_control(WebSocket& socket, SessionNumber number, const std::string& text);
  Awaitable<void> start_session(WebSocket& socket, SessionNumber number, const std::string& text);
  void end_session(SessionNumber number, std::string_view code, std::string_view message);
  void end_if_late(const SlotAnswer& answer);
  class Seat;

  WorkerOptions options;
  Engine engine;
  const std::string instance = random_id();  // of this process, whatever address leads to it
  Clock::time_point started = Clock::now(), last_contact{};
  WorkerPhase phase = WorkerPhase::starting;
  bool draining = false, stopping = false;
  std::string problem{};  // why it failed
  std::exception_ptr start_problem{};
  SlotTable slots;
  std::map<SessionNumber, WebSocket*> sockets{};
  std::map<std::string, AvatarSize> avatars{};
  struct {
    std::uint64_t sessions = 0, refused = 0, control_frames = 0, media_frames = 0, media_bytes = 0;
  } counts{};
  Guarded<DeviceUse> use;

  // Last, in this order: the loop's thread ends before anything that its work resumes on.
  boost::asio::io_context io{1};
  boost::asio::steady_timer phase_changed, drained, watch;
  std::optional<HttpServer> server{};
  WorkLoop loop;
};

}  // namespace navtalk::server
