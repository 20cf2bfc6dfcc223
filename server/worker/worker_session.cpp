// GET /v1/session on a worker: who may open one, and the control frames of one that is open. There
// is no media yet: binary frames are counted and dropped.
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "core/text/number.h"
#include "core/text/printable.h"
#include "server/protocol/control_frame.h"
#include "server/worker/worker_state.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t k_shown_bytes = 64;     // of what a client made up
constexpr std::size_t k_logged_bytes = 1000;  // of an error, whatever it quotes

template <class Number>
Number number_parameter(const Request& request, std::string_view name) {
  const auto number = parse_number<Number>(request.parameter(name).value_or(""));
  if (!number) throw Error(Code::usage, std::string(name) + " is missing, or not a number");
  return *number;
}

SlotAsked asked_of(const Request& request) {
  SlotAsked asked;
  asked.lease = request.parameter("lease").value_or("");
  if (asked.lease.empty() || asked.lease.size() > 128)
    throw Error(Code::usage, "lease is missing, or longer than 128 bytes");
  asked.epoch = number_parameter<std::uint64_t>(request, "epoch");
  if (request.parameter("slot")) asked.slot = number_parameter<int>(request, "slot");
  return asked;
}

Response refusal_of(const SlotAnswer& answer, const SlotAsked& asked) {
  switch (answer.verdict) {
    case SlotAnswer::Verdict::stale:
      return error_response(409, "stale_epoch",
                            "epoch " + std::to_string(asked.epoch) + " is over: slot " +
                                std::to_string(answer.slot) + " has seen " +
                                std::to_string(answer.seen));
    case SlotAnswer::Verdict::no_such_slot:
      return error_response(400, "usage", "this worker has no slot " + std::to_string(*asked.slot));
    default:
      return error_response(503, "no_capacity", "every slot of this worker is taken");
  }
}

// What the user hears when a session cannot start: what they can do about it, and nothing of this
// machine, whose log has the rest.
Frame cannot_start(Code code, const std::string& avatar) {
  const std::string id = printable_start(avatar, k_shown_bytes);
  switch (code) {
    case Code::usage:
      return error_frame(name(code), "'" + id + "' is not a valid avatar id");
    case Code::not_found:
      return error_frame(name(code), "there is no avatar " + id + " on this worker");
    case Code::invalid:
      return error_frame(name(code), "the avatar " + id + " cannot be used: it is broken");
    default:
      return error_frame(name(Code::failed), "this worker could not start the session");
  }
}

// About what the client asked for, and nothing else.
bool clients_fault(Code code) {
  return code == Code::usage || code == Code::not_found || code == Code::invalid;
}

}  // namespace

// A session's place in a worker. However the session ends, by an exception too: its slot is free
// then, and nobody writes to its socket any more.
class Worker::State::Seat {
 public:
  Seat(State& worker, SessionNumber number) : worker_(worker), number_(number) {}
  ~Seat() {
    worker_.sockets.erase(number_);
    worker_.slots.close(number_);
    if (worker_.sockets.empty()) worker_.drained.cancel();
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

 private:
  State& worker_;
  SessionNumber number_;
};

asio::awaitable<std::optional<Response>> Worker::State::session(const Request& request,
                                                                Upgrade& upgrade) {
  const SlotAsked asked = asked_of(request);
  if (!serving() || stuck()) {
    ++counts.refused;
    const std::string now = stuck() ? "stuck" : state();
    co_return error_response(503, now, "this worker takes no sessions now: it is " + now);
  }
  const SlotAnswer answer = slots.open(asked);
  if (answer.verdict != SlotAnswer::Verdict::opened) {
    ++counts.refused;
    co_return refusal_of(answer, asked);
  }
  if (answer.ended) end_session(*answer.ended, "superseded", "a newer session took this slot");
  ++counts.sessions;
  SocketLimits limits;
  limits.silence = options.peer_silence;
  const NamedValues headers = {{"X-Navtalk-Protocol", std::to_string(k_protocol)}};
  std::unique_ptr<WebSocket> socket;  // outlives its seat
  {
    const Seat seat(*this, answer.session);
    socket = co_await upgrade.accept(limits, headers);
    if (socket) {
      log::info("session opened", {{"lease", asked.lease}});
      sockets.emplace(answer.session, socket.get());
      end_if_late(answer);
      co_await talk(*socket, answer.session);
      log::info("session over", {{"lease", asked.lease}});
    }
  }
  if (socket) co_await socket->finished();
  co_return std::nullopt;
}

// Much may have happened while the handshake ran.
void Worker::State::end_if_late(const SlotAnswer& answer) {
  const auto& held = slots.slots()[static_cast<std::size_t>(answer.slot)].session;
  if (held != answer.session) {
    end_session(answer.session, "superseded", "a newer session took this slot");
  } else if (!serving()) {
    end_session(answer.session, "drained", "this worker takes no sessions any more");
  }
}

asio::awaitable<void> Worker::State::talk(WebSocket& socket, SessionNumber number) {
  for (;;) {
    const std::optional<Frame> frame = co_await socket.receive();
    if (!frame) break;
    if (frame->text) {
      ++counts.control_frames;
      co_await on_control(socket, number, frame->bytes);
    } else {
      ++counts.media_frames;
      counts.media_bytes += frame->bytes.size();
    }
  }
  socket.close(CloseCode::normal, "");
}

asio::awaitable<void> Worker::State::on_control(WebSocket& socket, SessionNumber number,
                                                const std::string& text) {
  const auto object = parse_control(text);
  const std::string type = object ? object->at("type").get<std::string>() : "";
  if (type == "session.start") {
    co_await start_session(socket, number, text);
  } else if (type == "session.end") {
    socket.close(CloseCode::normal, "the session was ended");
  } else if (type.empty()) {
    co_await socket.send(error_frame("usage", "a text frame is a JSON object with a \"type\""));
  } else if (type != "input.end" && type != "interrupt") {
    co_await socket.send(
        error_frame("usage", "unknown type " + printable_start(type, k_shown_bytes)));
  }
}

asio::awaitable<void> Worker::State::start_session(WebSocket& socket, SessionNumber number,
                                                   const std::string& text) {
  if (std::optional<Frame> refusal = start_too_long(text)) {
    socket.offer(std::move(*refusal));
    socket.close(CloseCode::refused, "the session cannot start");
    co_return;
  }
  const nlohmann::json start = nlohmann::json::parse(text);
  std::string avatar = options.avatar;
  if (const auto named = start.find("avatar"); named != start.end() && named->is_string())
    avatar = named->get<std::string>();
  Code fault = Code::failed;
  std::string why;
  try {
    const AvatarSize size = co_await loaded_avatar(avatar);
    const Json ready = {
        {"type", "session.ready"},
        {"session", number},
        {"avatar", avatar},
        {"video", {{"width", size.width}, {"height", size.height}, {"fps", size.fps}}}};
    co_await socket.send(control_frame(ready));
    co_return;
  } catch (const Error& error) {
    fault = error.code();
    why = error.message();
  } catch (const std::exception& error) {
    why = error.what();  // of a library below, or of memory: this worker's own fault
  }
  log::warn("a session cannot start", {{"avatar", printable_start(avatar, k_shown_bytes)},
                                       {"error", why.substr(0, k_logged_bytes)}});
  socket.offer(cannot_start(fault, avatar));
  socket.close(clients_fault(fault) ? CloseCode::refused : CloseCode::failed,
               "the session cannot start");
}

void Worker::State::end_session(SessionNumber number, std::string_view code,
                                std::string_view message) {
  const auto found = sockets.find(number);
  if (found == sockets.end()) return;
  found->second->offer(error_frame(code, message));
  found->second->close(CloseCode::going_away, std::string(code));
}

}  // namespace navtalk::server
