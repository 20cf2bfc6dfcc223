#include "server/worker/session/worker_session.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/log/log.h"
#include "core/text/printable.h"
#include "scheduler/health/worker_protocol.h"
#include "server/protocol/control_frame.h"
#include "server/protocol/job_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

namespace {

constexpr auto k_progress_every = std::chrono::milliseconds(400);
constexpr std::size_t k_shown_bytes = 64;     // of what a client made up
constexpr std::size_t k_logged_bytes = 1000;  // of an error, whatever it quotes

// What the user hears when a session cannot start: what they can do about it, and nothing of this
// machine, whose log has the rest.
Frame cannot_start(Code code, const std::string& avatar) {
  const std::string id = printable_start(avatar, k_shown_bytes);
  switch (code) {
    case Code::usage:
      return error_frame(name(code), "'" + id + "' is not a valid avatar id");
    case Code::not_found:
      return error_frame(name(code), "this worker has no avatar " + id);
    case Code::invalid:
      return error_frame(name(code), "the avatar " + id + " cannot be used: it is broken");
    case Code::no_capacity:
      return error_frame(k_no_memory, "this worker has no memory for another session now");
    default:
      return error_frame(name(Code::failed), "this worker could not start the session");
  }
}

}  // namespace

WorkerSession::WorkerSession(WebSocket& socket, SessionNumber number, ModelLifecycle& models,
                             DeviceRoom& room, LiveThreads threads, WorkerSessionCounters& counters,
                             const std::string& default_avatar)
    : socket_(socket),
      number_(number),
      models_(models),
      room_(room),
      threads_(threads),
      counters_(counters),
      default_avatar_(default_avatar) {}

asio::awaitable<void> WorkerSession::run() {
  for (;;) {
    const std::optional<Frame> frame = co_await socket_.receive();
    if (!frame) break;
    if (frame->text) {
      ++counters_.control_frames;
      co_await on_control(frame->bytes);
    } else {
      ++counters_.media_frames;
      counters_.media_bytes += frame->bytes.size();
      if (live_) live_->hear(frame->bytes);
    }
  }
  socket_.close(CloseCode::normal, "");
  if (live_) {
    live_->stop();
    co_await live_->finished();
  }
}

asio::awaitable<void> WorkerSession::on_control(const std::string& text) {
  const std::string type = type_of(text);
  if (type == frame_type::start || (!started_ && text.size() > k_longest_start)) {
    co_await start(text);
  } else if (type == frame_type::end) {
    socket_.close(CloseCode::normal, "the session was ended");
  } else if (type.empty()) {
    co_await socket_.send(no_type_frame(text));
  } else if (type == frame_type::input_end) {
    if (live_) live_->end_input();
  } else if (type == frame_type::input_text) {
    say(text);
  } else if (type == frame_type::action) {
    act(text);
  } else if (type == frame_type::interrupt) {
    if (live_) live_->interrupt();
  } else if (type == frame_type::keyframe) {
    if (live_) live_->want_key_frame();
  } else if (type == frame_type::pause || type == frame_type::resume) {
    if (live_) live_->pause(type == frame_type::pause);
  } else {
    co_await socket_.send(
        error_frame("usage", "unknown type " + printable_start(type, k_shown_bytes)));
  }
}

void WorkerSession::say(const std::string& frame) {
  if (!live_) return;
  const nlohmann::json object = nlohmann::json::parse(frame);
  const auto text = object.find("text");
  const auto voice = object.find("voice");
  const bool has_voice = voice != object.end() && !voice->is_null();
  if (text == object.end() || !text->is_string()) {
    socket_.offer(error_frame("usage", "input.text needs a \"text\""));
  } else if (has_voice && (!voice->is_string() || !valid_voice(voice->get<std::string>()))) {
    socket_.offer(error_frame("usage", "input.text: \"voice\" is a name such as en-us+f3"));
  } else {
    live_->say({.text = text->get<std::string>(),
                .voice = has_voice ? voice->get<std::string>() : std::string()});
  }
}

void WorkerSession::act(const std::string& frame) {
  if (!live_) return;
  const nlohmann::json object = nlohmann::json::parse(frame);
  const auto action = object.find("name");
  if (action == object.end() || !action->is_string()) {
    socket_.offer(error_frame("usage", "action needs a \"name\""));
  } else if (const auto name = action->get<std::string>(); !live_->play(name)) {
    socket_.offer(error_frame(navtalk::name(Code::not_found),
                              "the avatar has no action " + printable_start(name, k_shown_bytes)));
  }
}

asio::awaitable<void> WorkerSession::start(const std::string& text) {
  start_came_ = Clock::now();
  if (std::optional<Frame> refusal = start_too_long(text)) {
    socket_.offer(std::move(*refusal));
    socket_.close(CloseCode::refused, "the session cannot start");
    co_return;
  }
  // Each avatar that it named would be loaded, for one slot.
  if (std::exchange(started_, true)) {
    co_await socket_.send(error_frame("usage", "this session has started: it starts once"));
    co_return;
  }
  StartFrame asked;
  Code fault = Code::failed;
  std::string why;
  try {
    asked = parse_start(nlohmann::json::parse(text));
  } catch (const Error& error) {
    socket_.offer(error_frame(name(error.code()), error.message()));
    socket_.close(CloseCode::refused, "the session cannot start");
    co_return;
  }
  if (asked.avatar.empty()) asked.avatar = default_avatar_;
  try {
    co_await open(asked);
    co_return;
  } catch (const Error& error) {
    fault = error.code();
    why = error.message();
  } catch (const std::exception& error) {
    why = error.what();  // of a library below, or of memory: this worker's own fault
  }
  refuse_start(fault, asked.avatar, why);
}

// The avatar is loaded, the client told, and the session's clock started.
asio::awaitable<void> WorkerSession::open(const StartFrame& start) {
  const auto tell = [this, last = Clock::time_point()](std::size_t done,
                                                       std::size_t total) mutable {
    if (Clock::now() - last < k_progress_every) return;
    last = Clock::now();
    socket_.offer(preparing_frame(done, total));
  };
  const ModelLifecycle::Loading loading = tell;
  avatar_ = co_await models_.avatar(start.avatar, loading);
  if (const auto fault = size_fault(start, avatar_->width, avatar_->height)) {
    socket_.offer(error_frame(name(Code::usage), *fault));
    socket_.close(CloseCode::refused, "the session cannot start");
    co_return;
  }
  place_ = room_.admit(start.avatar, *avatar_, start.width);
  if (!place_) throw Error(Code::no_capacity, "the device's memory would be fuller than it may be");
  const std::shared_ptr<LiveAvatar> live = co_await models_.open_live(
      start.avatar, {.width = start.width, .kbit_per_s = start.bit_per_s / 1000});
  Json ready = {{"type", frame_type::ready}, {"session", number_}, {"avatar", start.avatar}};
  if (!live) {
    ready["video"] = {
        {"width", avatar_->width}, {"height", avatar_->height}, {"fps", avatar_->fps}};
    co_await socket_.send(control_frame(ready));
    co_return;
  }
  const LiveVideo video = live->video();
  ready["video"] = {{"codec", video.codec},
                    {"width", video.width},
                    {"height", video.height},
                    {"fps", k_live_rates.front()}};
  constexpr int k_opus_hz = 48'000;
  ready["audio"] = {{"codec", start.opus ? "opus" : "pcm"},
                    {"rate", start.opus ? k_opus_hz : start.audio_rate_hz}};
  ready["actions"] = live->actions();
  co_await socket_.send(control_frame(ready));
  LiveSession::Options options{
      .number = number_, .rate_hz = start.audio_rate_hz, .opus = start.opus};
  if (const auto& position = start.position) {
    // The clock went on while the avatar was loaded.
    options.clock = position->clock + std::chrono::duration_cast<std::chrono::microseconds>(
                                          Clock::now() - start_came_);
    options.sounds = position->sounds;
    options.pictures = position->pictures;
  }
  live_ = std::make_unique<LiveSession>(co_await asio::this_coro::executor, socket_, threads_, live,
                                        options, counters_.live);
  live_->start();
}

void WorkerSession::refuse_start(Code fault, const std::string& avatar, const std::string& why) {
  log::warn("a session cannot start", {{"avatar", printable_start(avatar, k_shown_bytes)},
                                       {"error", why.substr(0, k_logged_bytes)}});
  socket_.offer(cannot_start(fault, avatar));
  if (fault == Code::no_capacity) ++counters_.refused;
  const CloseCode code = is_clients_fault(name(fault)) ? CloseCode::refused
                         : fault == Code::no_capacity  ? CloseCode::try_again
                                                       : CloseCode::failed;
  socket_.close(code, "the session cannot start");
}

void WorkerSession::end(std::string_view code, std::string_view message) {
  if (live_) live_->stop();  // also where the peer answers nothing
  socket_.offer(error_frame(code, message));
  socket_.close(code == name(Code::failed) ? CloseCode::failed : CloseCode::going_away,
                std::string(code));
}

}  // namespace navtalk::server
