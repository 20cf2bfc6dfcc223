#include "runpod/api/server_date.h"

#include <curl/curl.h>

#include <algorithm>
#include <ctime>

namespace navtalk::runpod {

std::optional<WallTime> parse_http_date(const std::string& text) {
  const std::time_t seconds = curl_getdate(text.c_str(), nullptr);
  if (seconds == -1) return std::nullopt;
  return std::chrono::system_clock::from_time_t(seconds);
}

std::chrono::seconds age_at_most(WallTime made, WallTime date) {
  const auto apart = std::chrono::ceil<std::chrono::seconds>(date - made);
  return std::max(apart, std::chrono::seconds(0)) + std::chrono::seconds(1);
}

}  // namespace navtalk::runpod
