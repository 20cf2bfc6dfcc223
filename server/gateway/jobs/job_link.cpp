#include "server/gateway/jobs/job_link.h"

#include "core/net/hmac.h"
#include "core/text/number.h"

namespace navtalk::server {
namespace {

std::string signature_of(const std::string& secret, const JobId& job, std::int64_t expires_s) {
  return hmac_sha256_hex(secret, job.text + ":" + std::to_string(expires_s));
}

}  // namespace

std::string result_link(const std::string& secret, const JobId& job, std::int64_t expires_s) {
  if (secret.empty()) return "";
  return "/v1/jobs/" + job.text + "/result?expires=" + std::to_string(expires_s) +
         "&signature=" + signature_of(secret, job, expires_s);
}

LinkCheck check_link(const std::string& secret, const Request& request, const JobId& job,
                     std::int64_t now_s) {
  const auto signature = request.parameter("signature");
  if (!signature) return LinkCheck::none;
  const auto expires = parse_number<std::int64_t>(request.parameter("expires").value_or(""));
  if (secret.empty() || !expires ||
      !equal_in_constant_time(*signature, signature_of(secret, job, *expires))) {
    return LinkCheck::forged;
  }
  return now_s < *expires ? LinkCheck::valid : LinkCheck::expired;
}

}  // namespace navtalk::server
