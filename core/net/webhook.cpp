#include "core/net/webhook.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/text/number.h"

namespace navtalk {
namespace {

using std::chrono::seconds;

constexpr seconds k_first_delay{5}, k_most_delay{600}, k_most_asked{3600};
constexpr std::size_t k_most_answer = 64 << 10;  // of which nothing is read

std::string hmac_hex(const std::string& secret, const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes, text.size(),
           digest.data(), &size) == nullptr) {
    throw Error(Code::failed, "OpenSSL offers no HMAC-SHA256, which webhooks need");
  }
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += k_digits[digest.at(i) >> 4U];
    hex += k_digits[digest.at(i) & 15U];
  }
  return hex;
}

}  // namespace

std::string webhook_signature(const std::string& secret, std::int64_t at,
                              const WebhookMessage& message) {
  const std::string time = std::to_string(at);
  return "t=" + time + ",v1=" + hmac_hex(secret, time + "." + message.id + "." + message.body);
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
       .only_public = !target.allow_private},
      stop);
  if (const auto* fault = std::get_if<HttpFault>(&result)) return {.why = fault->message};
  const auto& answer = std::get<HttpAnswer>(result);
  if (answer.status >= 200 && answer.status < 300) return {.delivered = true};
  WebhookResult failed{.why = "HTTP " + std::to_string(answer.status)};
  if (const auto header = answer.header("retry-after")) {
    const auto wait = parse_number<int>(*header);
    if (wait && *wait >= 0) failed.retry_after = seconds(*wait);
  }
  return failed;
}

}  // namespace navtalk
