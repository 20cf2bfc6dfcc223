// How long a server that refuses a request asks to wait (RFC 9110, 10.2.3).
#pragma once

#include <chrono>
#include <optional>

#include "core/net/http_client.h"

namespace navtalk {

// From the header Retry-After: a number of seconds, or a date, from which the answer's own date is taken off (`now` where it
// has none). Zero to a day, which is what a longer wait counts as; nullopt where there is none that can be read.
std::optional<std::chrono::seconds> retry_after(
    const HttpAnswer& answer,
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now());

}  // namespace navtalk
