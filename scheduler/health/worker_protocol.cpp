#include "scheduler/health/worker_protocol.h"

#include <charconv>

namespace navtalk {

bool is_worker_protocol(std::string_view value) {
  int major = 0;
  const char* const last = value.data() + value.size();
  const auto [end, fault] = std::from_chars(value.data(), last, major);
  return fault == std::errc() && (end == last || *end == '.') && major == k_worker_protocol;
}

std::vector<std::pair<std::string, std::string>> worker_request_headers(const std::string& token) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {k_protocol_header, std::to_string(k_worker_protocol)}};
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
  return headers;
}

}  // namespace navtalk
