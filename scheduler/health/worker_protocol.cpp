#include "scheduler/health/worker_protocol.h"

#include "core/text/number.h"

namespace navtalk {

bool is_worker_protocol(std::string_view value) {
  const auto major = take_number<int>(value);
  return major == k_worker_protocol && (value.empty() || value.front() == '.');
}

std::vector<std::pair<std::string, std::string>> worker_request_headers(const std::string& token) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {k_protocol_header, std::to_string(k_worker_protocol)}};
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
  return headers;
}

}  // namespace navtalk
