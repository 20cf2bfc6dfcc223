// Times as JSON and logs carry them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace navtalk {

// UTC with milliseconds: 2026-11-21T14:03:07.250Z (RFC 3339).
std::string rfc3339(std::chrono::system_clock::time_point time);
// In UTC ("Z"), to the second: a fraction is passed over. nullopt for another form.
std::optional<std::chrono::system_clock::time_point> parse_rfc3339(const std::string& text);

}  // namespace navtalk
