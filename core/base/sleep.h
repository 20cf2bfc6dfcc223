// A pause that a stop request ends. Stateless.
#pragma once

#include <chrono>
#include <stop_token>

namespace navtalk {

// True after `time`; false as soon as a stop is requested, also if it was before.
bool sleep_for(std::chrono::nanoseconds time, const std::stop_token& stop);

}  // namespace navtalk
