#include "server/worker/live/live_session.h"

#include <boost/asio/co_spawn.hpp>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Clock = Playout::Clock;
using Json = nlohmann::ordered_json;

LiveSession::LiveSession(const asio::any_io_executor& executor, WebSocket& socket,
                         LiveThreads threads, std::shared_ptr<LiveAvatar> avatar, Options options,
                         LiveCounters& counters)
    : executor_(executor),
      socket_(socket),
      counters_(counters),
      avatar_(avatar),
      clock_(options.clock),
      playout_(options.rate_hz, options.clock),
      lips_(options.rate_hz),
      input_(executor, socket, threads.speakers, avatar, playout_, counters),
      sounds_(executor, socket, threads.encoders, avatar,
              {.rate_hz = options.rate_hz, .opus = options.opus, .sequence = options.sounds}),
      pictures_(executor, socket, threads, avatar,
                {.session = options.number, .sequence = options.pictures}, counters),
      tick_(executor),
      over_(executor) {}

void LiveSession::start() {
  const auto over = [this](const std::exception_ptr& problem) { ended(problem); };
  running_ = 4;
  asio::co_spawn(executor_, pace(), over);
  asio::co_spawn(executor_, sounds_.run(), over);
  asio::co_spawn(executor_, pictures_.run(), over);
  asio::co_spawn(executor_, input_.run(), over);
}

// A failure of the nets or the encoder ends the session: another worker may do better.
void LiveSession::ended(const std::exception_ptr& problem) {
  --running_;
  if (problem) {
    try {
      std::rethrow_exception(problem);
    } catch (const std::exception& error) {
      log::error("a live session failed", {{"error", error.what()}});
    }
    socket_.offer(error_frame("failed", "this worker cannot go on with the session"));
    socket_.close(CloseCode::failed, "the session failed");
  }
  stop();
  over_.notify();
}

void LiveSession::stop() {
  stopped_ = true;
  sounds_.stop();
  pictures_.stop();
  input_.stop();
  tick_.notify();
}

asio::awaitable<void> LiveSession::finished() {
  while (running_ > 0) co_await over_.wait();
}

void LiveSession::interrupt() {
  input_.interrupt();
  sounds_.interrupt();
  pictures_.interrupt();
}

void LiveSession::pause(bool paused) {
  paused_ = paused;
  playout_.pause(paused);
  if (!paused) want_key_frame();
}

asio::awaitable<void> LiveSession::pace() {
  const Clock::time_point begin = Clock::now() - clock_;
  while (!stopped_) {
    PlayedSlot slot = playout_.next(Clock::now(), pictures_.slot());
    lips_.follow(slot, playout_.near());
    const Clock::time_point due = begin + slot.time;
    tell(slot);
    counters_.left_out_seconds += std::chrono::duration<double>(slot.left_out).count();
    sounds_.play(slot);
    if (!slot.sound.empty()) {
      counters_.sound_ahead_seconds =
          std::chrono::duration<double>(slot.time - pictures_.shown()).count();
    }
    if (!paused_) {
      const ClipFrame frame = avatar_->show(slot.time, slot.speaks);
      tell_action(slot.time);
      pictures_.show(slot, frame, slot.lips > 0 ? playout_.sound() : SoundWindow(), due);
    }
    const Clock::time_point next = due + slot.length;
    while (!stopped_ && Clock::now() < next) co_await tick_.wait(next);
  }
}

void LiveSession::tell(const PlayedSlot& slot) {
  const auto event = [&](std::string_view type) {
    socket_.offer(control_frame(Json{{"type", type}, {"pts_us", slot.time.count()}}));
  };
  if (slot.interrupted) event(frame_type::interrupted);
  if (slot.speech_starts) event(frame_type::speech_started);
  if (slot.speech_ends) event(frame_type::speech_ended);
}

void LiveSession::tell_action(std::chrono::microseconds time) {
  const std::optional<std::string> action = avatar_->action();
  if (action == action_) return;
  const auto event = [&](std::string_view type, const std::string& name) {
    socket_.offer(control_frame(Json{{"type", type}, {"name", name}, {"pts_us", time.count()}}));
  };
  if (action_) event(frame_type::action_ended, *action_);
  if (action) event(frame_type::action_started, *action);
  action_ = action;
}

}  // namespace navtalk::server
