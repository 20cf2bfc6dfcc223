// The gateway's own part of /metrics.
#pragma once

#include <cstddef>

#include "server/gateway/session/session_counters.h"
#include "server/http/metrics.h"

namespace navtalk::server {

// `connected`: users who have a connection now, waiting ones included.
void add_gateway_metrics(MetricsPage& page, const SessionCounters& counters, std::size_t connected);

}  // namespace navtalk::server
