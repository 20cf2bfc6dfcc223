// The gateway's /healthz, /readyz and /metrics. Handlers run on the I/O thread, the store's calls on
// the blocking threads.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <vector>

#include "scheduler/cost/budget.h"
#include "scheduler/pool/pool_store.h"
#include "server/gateway/access/access.h"
#include "server/gateway/session/sessions.h"
#include "server/http/blocking_threads.h"
#include "server/http/metrics.h"
#include "server/http/router.h"

namespace navtalk::server {

class StatusApi {
 public:
  // Adds what others know to /metrics.
  using MoreMetrics = std::function<boost::asio::awaitable<void>(MetricsPage&)>;
  // What is wrong with the pool's loops, one sentence each; empty: they are not in this process.
  using Problems = std::function<std::vector<std::string>()>;

  // `threads`: for calls of the store; `worker_threads`: those on which workers are asked.
  StatusApi(PoolStore& store, BlockingThreads& threads, BlockingThreads& worker_threads,
            const Sessions& sessions, const Access& access, std::string version, Problems problems,
            Budgets budgets);
  StatusApi(const StatusApi&) = delete;
  StatusApi& operator=(const StatusApi&) = delete;

  // Before the routes are added.
  void add_source(MoreMetrics more) { more_.push_back(std::move(more)); }
  // What keeps this gateway from some of its work while it serves users, one sentence each; `in_full`: with paths. For
  // /readyz, on the I/O thread.
  using Degraded = std::function<std::vector<std::string>(bool in_full)>;
  void add_degraded(Degraded degraded) { degraded_.push_back(std::move(degraded)); }
  // These refer to this object.
  void add_health(Router& router);
  void add_metrics(Router& router);

 private:
  boost::asio::awaitable<Response> readyz();
  // One sentence each. Where others than this machine may ask, without what errors tell of it.
  boost::asio::awaitable<std::vector<std::string>> what_is_wrong();
  boost::asio::awaitable<Response> metrics();

  PoolStore& store_;
  BlockingThreads& threads_;
  BlockingThreads& worker_threads_;
  const Sessions& sessions_;
  const Access& access_;
  const std::string version_;
  const Problems problems_;
  const Budgets budgets_;
  std::vector<MoreMetrics> more_{};
  std::vector<Degraded> degraded_{};
};

}  // namespace navtalk::server
