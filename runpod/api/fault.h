// Why a call of the API failed, as one table of statuses. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/net/http_client.h"

namespace navtalk::runpod {

struct ApiFault {
  enum class Kind {
    stopped,       // a stop was asked
    unreachable,   // no connection: the server did not see the call
    unknown,       // sent, but no answer, 5xx, or a 404 of something else: it may have been done
    rate_limited,  // 429: not done
    rejected,      // 400: an invalid request, or no capacity for this candidate
    account,       // 401, 402: nothing will work until a person acts
    forbidden,     // 403 in the API's words: this key or pool
    edge_block,    // 403 of something in front of the API
    api_gone,      // 410: this API has ended, which says nothing about any pod
    not_found,     // 404 of the API itself
    conflict,      // 409: not possible in the pod's present status
    bad_request,   // 413, 422 and any other 4xx
    malformed,     // success, but the answer cannot be read
  } kind{};
  int status = 0;         // HTTP; 0: no answer
  std::string message{};  // for people; no secret
  std::optional<std::chrono::milliseconds> retry_after{};

  // Worth another try, for a call that may be repeated: 429, 5xx and transport.
  bool passing() const {
    return kind == Kind::unreachable || kind == Kind::unknown || kind == Kind::rate_limited;
  }
};

ApiFault fault_of(const HttpFault& fault);
// For an answer outside 2xx. Its text is shortened and made printable.
ApiFault fault_of(const HttpAnswer& answer);

// By their texts, since no code distinguishes them: no capacity for a create; no free GPU on the host
// that a stopped pod is tied to.
bool says_no_capacity(const std::string& message);
bool says_resume_impossible(const std::string& message);

}  // namespace navtalk::runpod
