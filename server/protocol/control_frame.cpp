#include "server/protocol/control_frame.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/text/bounded_json.h"
#include "core/text/printable.h"

namespace navtalk::server {
namespace {

constexpr JsonBounds k_bounds{
    .bytes = k_longest_start, .levels = k_deepest_control, .unique_keys = true};
constexpr std::size_t k_shown_bytes = 200;  // of what is wrong, which quotes the client

// Why no type was found in a text, which is short enough for a control frame.
std::string why_no_type(const std::string& text) {
  const auto parsed = parse_bounded(text, k_bounds);
  const auto* refused = std::get_if<JsonRefusal>(&parsed);
  if (refused == nullptr) return "a text frame is a JSON object with a \"type\"";
  const std::string detail = printable_start(refused->detail, k_shown_bytes);
  switch (refused->why) {
    case JsonRefusal::Why::repeated_key:
      return "a text frame has the member \"" + detail + "\" twice";
    case JsonRefusal::Why::too_deep:
      return "a text frame is nested deeper than " + std::to_string(k_deepest_control) + " levels";
    default:
      return "a text frame is not valid JSON: " + detail;
  }
}

}  // namespace

std::optional<nlohmann::json> parse_control(const std::string& text) {
  auto parsed = parse_bounded(text, k_bounds);
  if (!std::holds_alternative<nlohmann::json>(parsed)) return std::nullopt;
  auto& object = std::get<nlohmann::json>(parsed);
  if (!object.is_object()) return std::nullopt;
  const auto type = object.find("type");
  if (type == object.end() || !type->is_string()) return std::nullopt;
  return std::move(object);
}

std::optional<Frame> start_too_long(const std::string& text) {
  if (text.size() <= k_longest_start) return std::nullopt;
  return error_frame("invalid", "a session.start holds at most " + std::to_string(k_longest_start) +
                                    " bytes, not " + std::to_string(text.size()));
}

std::string type_of(const std::string& text) {
  const auto object = parse_control(text);
  if (!object) return "";
  auto type = object->at("type").get<std::string>();
  return text.size() <= k_longest_control || type == frame_type::start ? type : "";
}

Frame no_type_frame(const std::string& text) {
  if (text.size() <= k_longest_control) return error_frame("usage", why_no_type(text));
  return error_frame("usage", "a text frame holds at most " + std::to_string(k_longest_control) +
                                  " bytes, not " + std::to_string(text.size()) +
                                  "; send a longer text in parts");
}

Frame control_frame(const nlohmann::ordered_json& object) {
  using Json = nlohmann::ordered_json;
  return {.bytes = object.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

Frame error_frame(std::string_view code, std::string_view message,
                  std::optional<double> retry_after_s) {
  nlohmann::ordered_json object = {
      {"type", frame_type::error}, {"code", code}, {"message", message}};
  if (retry_after_s) object["retry_after"] = *retry_after_s;
  return control_frame(object);
}

std::string error_code_of(const Frame& error) {
  const auto object = parse_control(error.bytes);
  if (!object || object->at("type") != frame_type::error) return "";
  const auto code = object->find("code");
  return code != object->end() && code->is_string() ? code->get<std::string>() : "";
}

Frame quality_frame(const FrameRate& fps, std::string_view reason) {
  return control_frame({{"type", frame_type::quality}, {"fps", fps}, {"reason", reason}});
}

Frame preparing_frame(std::size_t done, std::size_t total) {
  return control_frame({{"type", frame_type::preparing}, {"done", done}, {"total", total}});
}

Frame too_fast_frame() {
  return error_frame("too_fast", "this client sends more than it may before its session starts");
}

Frame key_revoked_frame() {
  return error_frame("key_revoked", "the API key of this session was revoked");
}

Frame draining_frame(std::chrono::milliseconds notice, const std::string& resume_token) {
  nlohmann::ordered_json object = {{"type", frame_type::draining},
                                   {"notice_s", std::chrono::duration<double>(notice).count()}};
  if (!resume_token.empty()) object["resume_token"] = resume_token;
  return control_frame(object);
}

Frame bare_frame(std::string_view type) {
  return control_frame(nlohmann::ordered_json{{"type", type}});
}

bool is_clients_fault(std::string_view code) {
  return code == name(Code::usage) || code == name(Code::not_found) || code == name(Code::invalid);
}

}  // namespace navtalk::server
