// How old something is by the clock of the server that says when it was made, whatever the clock of
// this machine says. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace navtalk::runpod {

using WallTime = std::chrono::system_clock::time_point;

// The header "Date" of an HTTP answer: "Sun, 06 Nov 1994 08:49:37 GMT", or one of the older forms
// that RFC 9110 asks a recipient to accept. nullopt for text that is not a date.
std::optional<WallTime> parse_http_date(const std::string& text);

// At most so long: both times are cut to the second, so a second is added.
std::chrono::seconds age_at_most(WallTime made, WallTime date);

}  // namespace navtalk::runpod
