// Control frames of a live session (docs/protocol.md): JSON text with a "type". Plain functions.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/frame_rate.h"
#include "server/http/socket/frame.h"

namespace navtalk::server {

// The values of "type".
namespace frame_type {
inline constexpr std::string_view start = "session.start", ready = "session.ready",
                                  preparing = "session.preparing", draining = "session.draining",
                                  undrained = "session.undrained", end = "session.end",
                                  queue_update = "queue.update", input_end = "input.end",
                                  input_text = "input.text", interrupt = "interrupt",
                                  keyframe = "keyframe", error = "error",
                                  speech_started = "speech.started", speech_ended = "speech.ended",
                                  interrupted = "interrupted", quality = "quality",
                                  action = "action", action_started = "action.started",
                                  action_ended = "action.ended", worker_changed = "worker.changed",
                                  // From a gateway to its worker alone.
    pause = "output.pause", resume = "output.resume";
}  // namespace frame_type

// What a session.start may hold: its members are names and numbers. It is kept while its user
// waits, and parts of it are logged.
inline constexpr std::size_t k_longest_start = 16 << 10;  // bytes
// The error for one that is longer; nullopt: it is not.
std::optional<Frame> start_too_long(const std::string& text);

// Every other control frame is shorter, and none is nested deeper: a client may send many of them.
inline constexpr std::size_t k_longest_control = 4 << 10;  // bytes
inline constexpr int k_deepest_control = 16;

// The object, when the text is a JSON object whose "type" is a string and no member comes twice, within the bounds of a
// session.start.
std::optional<nlohmann::json> parse_control(const std::string& text);
// Its "type"; "" when the text is not such an object, or exceeds the bounds of its type.
std::string type_of(const std::string& text);
// The error for a text of which type_of() is "": it is too long, not valid JSON (which says where), or not such an object.
Frame no_type_frame(const std::string& text);
Frame control_frame(const nlohmann::ordered_json& object);
// {"type":"error","code","message"} and, where it makes sense, "retry_after" in seconds.
Frame error_frame(std::string_view code, std::string_view message,
                  std::optional<double> retry_after_s = {});
// Of an error frame; "" of any other.
std::string error_code_of(const Frame& error);
// {"type":"session.preparing","done","total"}: so much of the avatar is made; 0 of 0: not known.
Frame preparing_frame(std::size_t done, std::size_t total);
// {"type":"quality","fps","reason"}: the session has so many pictures a second from now on.
Frame quality_frame(const FrameRate& fps, std::string_view reason);
// The error for a client that stayed beyond its pace before session.ready.
Frame too_fast_frame();
// The error for a client whose key was revoked.
Frame key_revoked_frame();
// {"type":"session.draining","notice_s"} and, if there is one, "resume_token".
Frame draining_frame(std::chrono::milliseconds notice, const std::string& resume_token = "");
// {"type"} alone.
Frame bare_frame(std::string_view type);

// Whether an error in answer to session.start is about what the client asked for. Any other, one of
// a later version included, is a fault of the worker.
bool is_clients_fault(std::string_view code);

}  // namespace navtalk::server
