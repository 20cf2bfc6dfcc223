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

// What curl takes for a date is more than the three formats of HTTP, but no number.
std::optional<Time> date_of(const std::string& text) {
  const std::time_t date = curl_getdate(text.c_str(), nullptr);
  return date < 0 ? std::nullopt : std::optional(std::chrono::system_clock::from_time_t(date));
}

}  // namespace

std::optional<seconds> retry_after(const HttpAnswer& answer, Time now) {
  const std::string text(trim(answer.header("retry-after").value_or("")));
  if (text.find_first_not_of("-0123456789") == std::string::npos) {
    const auto number = parse_number<int>(text);
    return number && *number >= 0 ? std::optional(seconds(*number)) : std::nullopt;
  }
  const auto until = date_of(text);
  if (!until) return std::nullopt;
  // The server's own time: its clock may be another.
  const auto from = date_of(answer.header("date").value_or("")).value_or(now);
  return std::max(seconds(0), std::chrono::ceil<seconds>(*until - from));
}

}  // namespace navtalk
