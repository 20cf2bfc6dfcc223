// The gateway's own part of /metrics.
#pragma once

#include <cstddef>

#include "server/gateway/access/access.h"
#include "server/gateway/session/session_counters.h"
#include "server/http/metrics.h"

namespace navtalk::server {

// `connected`: users who have a connection now, waiting ones included.
void add_gateway_metrics(MetricsPage& page, const SessionCounters& counters, std::size_t connected);
void add_access_metrics(MetricsPage& page, const AccessCounters& counters);

}  // namespace navtalk::server
