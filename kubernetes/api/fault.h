// Why a call of the Kubernetes API failed, as one table of statuses. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/net/http_client.h"

namespace navtalk::kubernetes {

struct ApiFault {
  enum class Kind {
    stopped,      // a stop was asked
    unreachable,  // no connection: the server did not see the call
    unknown,      // sent, but no answer, 5xx, or words of something else: it may have been done
    busy,         // 429: not done
    quota,        // 403: the namespace's quota is used up
    forbidden,    // 401, any other 403: nothing will work until a person acts
    unprepared,   // nothing was sent: our own credentials cannot be read
    not_found,    // 404 in the API's own words
    conflict,     // 409: it exists already, or is not as the request expects it
    expired,      // 410: a list's continuation is too old
    rejected,     // any other 4xx
    malformed,    // success, but the answer cannot be read
  } kind{};
  int status = 0;         // HTTP; 0: no answer
  std::string message{};  // for people; no secret
  std::optional<std::chrono::milliseconds> retry_after{};

  // Worth another try, for a call that may be repeated.
  bool passing() const {
    return kind == Kind::unreachable || kind == Kind::unknown || kind == Kind::busy;
  }
  // It says nothing about the object of the call.
  bool says_nothing() const {
    return passing() || kind == Kind::stopped || kind == Kind::malformed || kind == Kind::expired;
  }
};

ApiFault fault_of(const HttpFault& fault);
// For an answer outside 2xx. Its text is shortened and made printable.
ApiFault fault_of(const HttpAnswer& answer);

// How long to wait after `tries` failed calls: a random part of 250 ms * 2^(tries-1), never less than
// the server asked for. `jitter` is 0..1. nullopt: give up, after four calls or when it asks for more
// than 20 s.
std::optional<std::chrono::milliseconds> retry_delay(const ApiFault& fault, int tries,
                                                     double jitter);

}  // namespace navtalk::kubernetes
