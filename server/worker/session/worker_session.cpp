#include "server/worker/session/worker_session.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/log/log.h"
#include "core/text/printable.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

namespace {

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
    default:
      return error_frame(name(Code::failed), "this worker could not start the session");
  }
}

}  // namespace

WorkerSession::WorkerSession(WebSocket& socket, SessionNumber number, ModelLifecycle& models,
                             WorkerSessionCounters& counters, const std::string& default_avatar)
    : socket_(socket),
      number_(number),
      models_(models),
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
    }
  }
  socket_.close(CloseCode::normal, "");
}

asio::awaitable<void> WorkerSession::on_control(const std::string& text) {
  const std::string type = type_of(text);
  if (type == frame_type::start || text.size() > k_longest_start) {
    co_await start(text);
  } else if (type == frame_type::end) {
    socket_.close(CloseCode::normal, "the session was ended");
  } else if (type.empty()) {
    co_await socket_.send(error_frame("usage", "a text frame is a JSON object with a \"type\""));
  } else if (type != frame_type::input_end && type != frame_type::interrupt) {
    co_await socket_.send(
        error_frame("usage", "unknown type " + printable_start(type, k_shown_bytes)));
  }
}

asio::awaitable<void> WorkerSession::start(const std::string& text) {
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
  const nlohmann::json start = nlohmann::json::parse(text);
  std::string avatar = default_avatar_;
  if (const auto named = start.find("avatar"); named != start.end() && named->is_string())
    avatar = named->get<std::string>();
  Code fault = Code::failed;
  std::string why;
  try {
    avatar_ = co_await models_.avatar(avatar);
    const Json ready = {
        {"type", frame_type::ready},
        {"session", number_},
        {"avatar", avatar},
        {"video", {{"width", avatar_->width}, {"height", avatar_->height}, {"fps", avatar_->fps}}}};
    co_await socket_.send(control_frame(ready));
    co_return;
  } catch (const Error& error) {
    fault = error.code();
    why = error.message();
  } catch (const std::exception& error) {
    why = error.what();  // of a library below, or of memory: this worker's own fault
  }
  refuse_start(fault, avatar, why);
}

void WorkerSession::refuse_start(Code fault, const std::string& avatar, const std::string& why) {
  log::warn("a session cannot start", {{"avatar", printable_start(avatar, k_shown_bytes)},
                                       {"error", why.substr(0, k_logged_bytes)}});
  socket_.offer(cannot_start(fault, avatar));
  socket_.close(is_clients_fault(name(fault)) ? CloseCode::refused : CloseCode::failed,
                "the session cannot start");
}

void WorkerSession::end(std::string_view code, std::string_view message) {
  socket_.offer(error_frame(code, message));
  socket_.close(CloseCode::going_away, std::string(code));
}

}  // namespace navtalk::server
