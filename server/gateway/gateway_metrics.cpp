#include "server/gateway/gateway_metrics.h"

namespace navtalk::server {

void add_gateway_metrics(MetricsPage& page, const SessionCounters& counters,
                         std::size_t connected) {
  const auto total = [&](const char* name, const char* help, std::uint64_t value) {
    page.counter(name, help, static_cast<double>(value));
  };
  page.gauge("navtalk_gateway_connections", "Users connected here, waiting ones included",
             static_cast<double>(connected));
  total("navtalk_gateway_sessions_total", "Sessions that got their worker", counters.ready);
  total("navtalk_gateway_refused_total", "Users told that there is no GPU", counters.refused);
  total("navtalk_gateway_left_queue_total", "Users who left the queue", counters.left_queue);
  total("navtalk_gateway_connect_failed_total", "Workers that could not be connected to",
        counters.connect_failed);
  total("navtalk_gateway_shortages_total",
        "Connections to workers for which this gateway had no descriptor or port",
        counters.shortages);
  total("navtalk_gateway_worker_lost_total", "Sessions whose worker was lost",
        counters.worker_lost);
  total("navtalk_gateway_lease_lost_total", "Sessions whose lease ran out", counters.lease_lost);
  total("navtalk_gateway_to_worker_bytes_total", "Relayed to workers", counters.bytes_to_worker);
  total("navtalk_gateway_to_client_bytes_total", "Relayed to users", counters.bytes_to_client);
  page.histogram("navtalk_gateway_wait_seconds", "From connecting to session.ready",
                 {k_wait_bounds.begin(), k_wait_bounds.end()},
                 {counters.waits.begin(), counters.waits.end()}, counters.waits_sum);
}

}  // namespace navtalk::server
