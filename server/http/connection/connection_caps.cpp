#include "server/http/connection/connection_caps.h"

#include <algorithm>

namespace navtalk::server {

HttpLimits within_open_files(HttpLimits limits, std::size_t open_files, const DescriptorUse& use) {
  constexpr std::size_t k_fewest = 16;
  const std::size_t kept = use.others + limits.reserve;
  const std::size_t left = open_files > kept ? (open_files - kept) / use.per_connection : 0;
  limits.connections = std::min(limits.connections, std::max(k_fewest, left));
  return limits;
}

}  // namespace navtalk::server
