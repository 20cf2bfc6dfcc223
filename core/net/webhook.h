// Sends signed messages to an HTTP endpoint, at least once each: the caller keeps a message until it is
// delivered. For events of the pool, and for anything else with an id, a type and a body.
//
//   POST URL
//   Content-Type: application/json
//   Navtalk-Event-Id: ID                    the same in each repetition
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
  bool allow_private = false;  // also addresses of this machine and of private networks
  std::chrono::milliseconds timeout{10'000};
};

struct WebhookMessage {
  std::string id, type;
  std::string body;  // JSON
};

struct WebhookResult {
  bool delivered = false;
  std::string why{};  // it was not delivered: a status or a fault; never the secret
  std::optional<std::chrono::seconds> retry_after{};  // as the server asked
};

// "t=SECONDS,v1=HEX"; seconds since 1970.
std::string webhook_signature(const std::string& secret, std::int64_t seconds,
                              const WebhookMessage& message);

// The delay before the next attempt: 5 s after the first failure, doubled after each further one, at most
// 10 min; not less than `retry_after`, which counts up to an hour. `failures`: from 1.
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
