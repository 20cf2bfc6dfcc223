#include "core/net/retry_after.h"

#include <curl/curl.h>

#include <algorithm>
#include <string>

#include "core/text/number.h"
#include "core/text/trim.h"

namespace navtalk {
namespace {

using std::chrono::seconds;
using Time = std::chrono::system_clock::time_point;

constexpr seconds k_longest = std::chrono::days(1);

// Since 1970, in seconds: a clock of nanoseconds ends in 2262. What curl takes for a date is more than the three formats
// of HTTP, but not a number.
std::optional<seconds> date_of(const std::string& text) {
  const std::time_t date = curl_getdate(text.c_str(), nullptr);
  return date < 0 ? std::nullopt : std::optional(seconds(date));
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::optional<seconds> retry_after(const HttpAnswer& answer, Time now) {
  const std::string text(trim(answer.header("retry-after").value_or("")));
  if (is_number(text)) {
    const auto number = parse_number<std::int64_t>(text);
    return number ? std::min(seconds(*number), k_longest) : k_longest;
  }
  if (text.find_first_not_of("-0123456789") == std::string::npos) return std::nullopt;
  const auto until = date_of(text);
  if (!until) return std::nullopt;
  // The server's own time: its clock may be another.
  const auto from = date_of(answer.header("date").value_or(""))
                        .value_or(std::chrono::floor<seconds>(now.time_since_epoch()));
  return std::clamp(*until - from, seconds(0), k_longest);
}

}  // namespace navtalk
