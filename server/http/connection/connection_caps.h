// How many connections a server takes, by the files that its process may have open. Pure.
#pragma once

#include <cstddef>

#include "server/http/http_server.h"

namespace navtalk::server {

struct DescriptorUse {
  std::size_t others = 0;          // descriptors that the process needs for other things
  std::size_t per_connection = 1;  // of a connection; 2 where each leads to one more
};

// These limits with fewer connections, if the files would not do; never fewer than 16.
HttpLimits within_open_files(HttpLimits limits, std::size_t open_files, const DescriptorUse& use);

}  // namespace navtalk::server
