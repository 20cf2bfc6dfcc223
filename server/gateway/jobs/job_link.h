// Links to results that need no API key: whoever has one may fetch that video until it expires. Pure.
//
//   /v1/jobs/ID/result?expires=SECONDS&signature=HMAC-SHA-256(secret, "ID:SECONDS")
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/jobs/job.h"
#include "server/http/message.h"

namespace navtalk::server {

inline constexpr std::int64_t k_link_lasts_s = 24 * 3600;

// "" without a secret: links need one.
std::string result_link(const std::string& secret, const JobId& job, std::int64_t expires_s);

enum class LinkCheck { none, valid, expired, forged };
// none: the request is not such a link. Times are seconds since 1970.
LinkCheck check_link(const std::string& secret, const Request& request, const JobId& job,
                     std::int64_t now_s);

}  // namespace navtalk::server
