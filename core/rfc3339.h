// Times as JSON and logs carry them.
#pragma once

#include <chrono>
#include <string>

namespace navtalk {

// UTC with milliseconds: 2026-11-21T14:03:07.250Z (RFC 3339).
std::string rfc3339(std::chrono::system_clock::time_point time);

}  // namespace navtalk
