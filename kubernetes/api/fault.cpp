#include "kubernetes/api/fault.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/lenient_json.h"
#include "core/text/number.h"
#include "core/text/printable.h"
#include "core/text/trim.h"

namespace navtalk::kubernetes {
namespace {

using Kind = ApiFault::Kind;
using std::chrono::milliseconds;

constexpr int k_most_tries = 4;
constexpr milliseconds k_first_wait{250}, k_patience{20'000};
constexpr std::size_t k_longest_message = 400;  // bytes; it goes into logs and events

Kind kind_of_status(int status, bool own_words, const std::string& message) {
  if (status == 429) return Kind::busy;
  if (status >= 500 || status < 400) return Kind::unknown;
  if (status == 401) return Kind::forbidden;
  if (status == 403) {
    return message.find("exceeded quota") == std::string::npos ? Kind::forbidden : Kind::quota;
  }
  // What stands in front of the server knows no pods.
  if (!own_words) return Kind::unknown;
  if (status == 404) return Kind::not_found;
  if (status == 409) return Kind::conflict;
  if (status == 410) return Kind::expired;
  return Kind::rejected;
}

}  // namespace

ApiFault fault_of(const HttpFault& fault) {
  if (fault.kind == HttpFault::Kind::stopped) return {Kind::stopped, 0, fault.message};
  return {fault.sent ? Kind::unknown : Kind::unreachable, 0, fault.message};
}

ApiFault fault_of(const HttpAnswer& answer) {
  const auto json = parse_json(answer.body);
  const bool own_words = json && text_field(*json, "kind") == "Status";
  std::string message = own_words ? text_field(*json, "message").value_or("") : answer.body;
  message = printable(message.substr(0, k_longest_message));
  ApiFault fault{kind_of_status(answer.status, own_words, message), answer.status};
  fault.message = "HTTP " + std::to_string(answer.status);
  if (!message.empty()) fault.message += ": " + message;
  const auto after = parse_number<int>(trim(answer.header("retry-after").value_or("")));
  if (after && *after >= 0) fault.retry_after = std::chrono::seconds(std::min(*after, 86'400));
  return fault;
}

std::optional<milliseconds> retry_delay(const ApiFault& fault, int tries, double jitter) {
  const milliseconds asked = fault.retry_after.value_or(milliseconds(0));
  if (tries >= k_most_tries || asked > k_patience) return std::nullopt;
  const double bound = static_cast<double>((k_first_wait * (1 << (tries - 1))).count());
  return std::max(asked, milliseconds(static_cast<long long>(bound * std::clamp(jitter, 0., 1.))));
}

}  // namespace navtalk::kubernetes
