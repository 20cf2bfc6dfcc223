#include "core/net/webhook.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/net/hmac.h"
#include "core/net/retry_after.h"

namespace navtalk {
namespace {

using std::chrono::seconds;

constexpr seconds k_first_delay{5}, k_most_delay{600}, k_most_asked{3600};
constexpr std::size_t k_most_answer = 64 << 10;  // bytes of a body, which say nothing

bool is_taken(int status) { return status >= 200 && status < 300; }

}  // namespace

std::string webhook_signature(const std::string& secret, std::int64_t at,
                              const WebhookMessage& message) {
  const std::string time = std::to_string(at);
  return "t=" + time +
         ",v1=" + hmac_sha256_hex(secret, time + "." + message.id + "." + message.body);
}

seconds webhook_delay(int failures, std::optional<seconds> retry_after) {
  seconds delay = k_first_delay;
  for (int i = 1; i < failures && delay < k_most_delay; ++i) delay *= 2;
  delay = std::min(delay, k_most_delay);
  return std::max(delay, std::min(retry_after.value_or(seconds(0)), k_most_asked));
}

WebhookResult WebhookSender::send(const WebhookTarget& target, const WebhookMessage& message,
                                  const std::stop_token& stop) {
  if (target.secret.empty()) throw Error(Code::invalid, "a webhook needs a secret to sign with");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t at = std::chrono::duration_cast<seconds>(now).count();
  // What the server answers counts, not how long it goes on to talk.
  int answered = 0;
  std::size_t bytes = 0;
  const auto leave_long_body = [&](const HttpAnswer& head, std::string_view piece) {
    answered = head.status;
    bytes += piece.size();
    return bytes <= k_most_answer;
  };
  const HttpResult result = client_.send(
      {.method = "POST",
       .url = target.url,
       .headers = {{"Content-Type", "application/json"},
                   {"Navtalk-Event-Id", message.id},
                   {"Navtalk-Event-Type", message.type},
                   {"Navtalk-Signature", webhook_signature(target.secret, at, message)}},
       .body = message.body,
       .connect_timeout = target.timeout,
       .timeout = target.timeout,
       .max_answer = k_most_answer,
       .on_body = leave_long_body,
       .only_public = !target.allow_private},
      stop);
  if (is_taken(answered)) return {.delivered = true};
  if (const auto* fault = std::get_if<HttpFault>(&result)) return {.why = fault->message};
  const auto& answer = std::get<HttpAnswer>(result);
  if (is_taken(answer.status)) return {.delivered = true};
  return {.why = "HTTP " + std::to_string(answer.status), .retry_after = retry_after(answer)};
}

}  // namespace navtalk
