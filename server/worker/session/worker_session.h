// One session on a worker that holds a slot: its control frames and its media. Of the I/O thread; the
// socket outlives it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <string>

#include "server/http/socket/web_socket.h"
#include "server/protocol/start_frame.h"
#include "server/worker/device/device_room.h"
#include "server/worker/live/live_session.h"
#include "server/worker/model_lifecycle.h"
#include "server/worker/session/slot_holder.h"
#include "server/worker/session/slot_table.h"

namespace navtalk::server {

// What the sessions of one worker add up to, for /metrics.
struct WorkerSessionCounters {
  std::uint64_t sessions = 0, jobs = 0, refused = 0, control_frames = 0, media_frames = 0,
                media_bytes = 0;
  LiveCounters live{};
};

class WorkerSession : public SlotHolder {
 public:
  // `default_avatar` is for a session.start that names none.
  WorkerSession(WebSocket& socket, SessionNumber number, ModelLifecycle& models, DeviceRoom& room,
                LiveThreads threads, WorkerSessionCounters& counters,
                const std::string& default_avatar);
  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;

  boost::asio::awaitable<void> run() override;
  void end(std::string_view code, std::string_view message) override;
  void offer(Frame frame) override { socket_.offer(std::move(frame)); }

 private:
  boost::asio::awaitable<void> on_control(const std::string& text);
  void say(const std::string& frame);
  void act(const std::string& frame);
  boost::asio::awaitable<void> start(const std::string& text);
  boost::asio::awaitable<void> open(const StartFrame& start);
  void refuse_start(Code fault, const std::string& avatar, const std::string& why);

  WebSocket& socket_;
  const SessionNumber number_;
  ModelLifecycle& models_;
  DeviceRoom& room_;
  const LiveThreads threads_;
  WorkerSessionCounters& counters_;
  const std::string& default_avatar_;
  std::chrono::steady_clock::time_point start_came_{};  // session.start
  HeldAvatar avatar_{};
  std::unique_ptr<DeviceRoom::Place>
      place_{};                          // of the device's memory, before anything of it is used
  bool started_ = false;                 // session.start came
  std::unique_ptr<LiveSession> live_{};  // from session.ready on
};

}  // namespace navtalk::server
