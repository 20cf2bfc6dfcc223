// What the pool's workers tell of their live sessions (stages, late pictures, tiers, drift), for the gateway's /metrics: whoever
// scrapes it needs no worker's port and token. Each scrape asks all serving workers at once, but for local ones of other hosts and for
// silent ones; one that does not answer within two seconds is missing from that page. Of the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "core/net/async_http_client.h"
#include "scheduler/health/worker_tokens.h"
#include "scheduler/pool/pool_store.h"
#include "server/http/blocking_threads.h"
#include "server/http/metrics.h"

namespace navtalk::server {

class WorkerMetrics {
 public:
  static constexpr std::size_t k_kept_connections = 128;

  // `threads`: for calls of the store. `host`: the gateway's.
  WorkerMetrics(PoolStore& store, BlockingThreads& threads, WorkerTokens tokens, std::string host);
  WorkerMetrics(const WorkerMetrics&) = delete;
  WorkerMetrics& operator=(const WorkerMetrics&) = delete;

  boost::asio::awaitable<void> add_to(MetricsPage& page);

 private:
  PoolStore& store_;
  BlockingThreads& threads_;
  const WorkerTokens tokens_;
  const std::string host_;
  AsyncHttpClient client_{{.at_once = 64, .kept_connections = k_kept_connections}};
};

// The known ones of a worker's page, with the label `gpu`. Lines that are not known, or not as a worker writes them, are left out.
void add_worker_page(MetricsPage& page, const std::string& gpu, std::string_view worker_page);

}  // namespace navtalk::server
