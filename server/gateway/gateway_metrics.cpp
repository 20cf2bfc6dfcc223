#include "server/gateway/gateway_metrics.h"

namespace navtalk::server {

void add_gateway_metrics(MetricsPage& page, const SessionCounters& counters,
                         std::size_t connected) {
  const auto total = [&](const char* name, const char* help, std::uint64_t value) {
    page.counter(name, help, static_cast<double>(value));
  };
  page.gauge("navtalk_gateway_connections",
             "Users connected to this gateway, waiting ones included",
             static_cast<double>(connected));
  total("navtalk_gateway_sessions_total", "Sessions that a worker began to serve", counters.ready);
  total("navtalk_gateway_refused_total", "Users refused because no GPU was available",
        counters.refused);
  total("navtalk_gateway_left_queue_total", "Users who left while they waited for a slot",
        counters.left_queue);
  total("navtalk_gateway_connect_failed_total",
        "Attempts to open a session on a worker that failed", counters.connect_failed);
  total("navtalk_gateway_shortages_total",
        "Connections to workers for which this gateway had no descriptor or port",
        counters.shortages);
  total("navtalk_gateway_worker_lost_total",
        "Sessions ended because their GPU was lost and no other one was obtained in time",
        counters.worker_lost);
  total("navtalk_gateway_workers_changed_total",
        "Sessions moved to another GPU because theirs was lost", counters.workers_changed);
  total("navtalk_gateway_resumed_total", "Clients that came back to their session",
        counters.resumed);
  total("navtalk_gateway_resume_failed_total",
        "Clients that came back too late, or with a token that is not valid",
        counters.resume_failed);
  total("navtalk_gateway_slow_clients_total", "Connections closed because the client did not read",
        counters.slow_clients);
  total("navtalk_gateway_dropped_pictures_total",
        "Pictures not sent because the client did not read", counters.dropped_pictures);
  total("navtalk_gateway_lease_lost_total",
        "Sessions ended because the store no longer held their lease", counters.lease_lost);
  total("navtalk_gateway_revoked_total", "Sessions ended because their key was revoked",
        counters.revoked);
  total("navtalk_gateway_to_worker_bytes_total", "Bytes relayed from users to workers",
        counters.bytes_to_worker);
  total("navtalk_gateway_to_client_bytes_total", "Bytes relayed from workers to users",
        counters.bytes_to_client);
  page.histogram("navtalk_gateway_wait_seconds",
                 "Time from connecting to session.ready, in seconds",
                 {k_wait_bounds.begin(), k_wait_bounds.end()},
                 {counters.waits.begin(), counters.waits.end()}, counters.waits_sum);
}

void add_access_metrics(MetricsPage& page, const AccessCounters& counters) {
  const auto refused = [&](const char* reason, std::uint64_t value) {
    page.counter("navtalk_gateway_denied_total",
                 "Requests and sessions that were denied, by reason", static_cast<double>(value),
                 {{"reason", reason}});
  };
  refused("key", counters.refused_keys);
  refused("token", counters.refused_tokens);
  refused("origin", counters.refused_origins);
  refused("tenant_limit", counters.tenant_limits);
}

}  // namespace navtalk::server
