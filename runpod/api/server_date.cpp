#include "runpod/api/server_date.h"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace navtalk::runpod {

std::optional<WallTime> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* const end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S", &parts);
  if (end == nullptr || std::strcmp(end, " GMT") != 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

std::chrono::seconds age_at_most(WallTime made, WallTime date) {
  const auto apart = std::chrono::ceil<std::chrono::seconds>(date - made);
  return std::max(apart, std::chrono::seconds(0)) + std::chrono::seconds(1);
}

}  // namespace navtalk::runpod
