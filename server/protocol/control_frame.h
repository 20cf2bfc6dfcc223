// Control frames of a live session: JSON text with a "type". Plain functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/web_socket.h"

namespace navtalk::server {

// What a session.start may hold: its members are names and numbers. It is kept while its user
// waits, and parts of it are logged.
inline constexpr std::size_t k_longest_start = 16 << 10;  // bytes
// What is wrong with one that is longer; nullopt: it is not.
std::optional<Frame> start_too_long(const std::string& text);

// The object, when the text is one with a "type" that is a text.
std::optional<nlohmann::json> parse_control(const std::string& text);
// Its "type"; "" when it has none, or is no such object.
std::string type_of(const std::string& text);
Frame control_frame(const nlohmann::ordered_json& object);
// {"type":"error","code","message"} and, where it makes sense, "retry_after" in seconds.
Frame error_frame(std::string_view code, std::string_view message,
                  std::optional<double> retry_after_s = {});

}  // namespace navtalk::server
