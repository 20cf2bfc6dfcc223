// One message to somebody's HTTP endpoint, signed, at least once: the caller keeps it until it is
// delivered. Used for events of the pool, and for whatever else has an id, a type and a body.
//
//   POST URL
//   Content-Type: application/json
//   Navtalk-Event-Id: ID                    the same at each repetition
//   Navtalk-Event-Type: TYPE
//   Navtalk-Signature: t=SECONDS,v1=HEX     HMAC-SHA-256(secret, "SECONDS.ID.BODY")
//
// Any 2xx means delivered. Redirects are not followed. One owner, one thread at a time.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "core/net/http_client.h"

namespace navtalk {

struct WebhookTarget {
  std::string url;
  std::string secret;
  bool allow_private = false;  // addresses of this machine and of private networks too
  std::chrono::milliseconds timeout{10'000};
};

struct WebhookMessage {
  std::string id, type;
  std::string body;  // JSON
};

struct WebhookResult {
  bool delivered = false;
  std::string why{};  // not delivered: an answer's status, or a fault; never the secret
  std::optional<std::chrono::seconds> retry_after{};  // that the server asked for
};

// "t=SECONDS,v1=HEX"; seconds since 1970.
std::string webhook_signature(const std::string& secret, std::int64_t seconds,
                              const WebhookMessage& message);

// Before the next attempt: 5 s after the first failure, twice as long after each further one, at most
// 10 min; at least `retry_after`, at most an hour. `failures`: from 1.
std::chrono::seconds webhook_delay(int failures,
                                   std::optional<std::chrono::seconds> retry_after = {});

class WebhookSender {
 public:
  // Error{invalid} for an invalid URL or an empty secret.
  WebhookResult send(const WebhookTarget& target, const WebhookMessage& message,
                     const std::stop_token& stop = {});

 private:
  HttpClient client_;
};

}  // namespace navtalk
