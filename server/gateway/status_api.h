// The gateway's /healthz, /readyz and /metrics. Handlers run on the I/O thread, the store's calls on
// the blocking threads.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <vector>

#include "scheduler/pool/pool_store.h"
#include "server/gateway/session/sessions.h"
#include "server/http/blocking_threads.h"
#include "server/http/router.h"

namespace navtalk::server {

class StatusApi {
 public:
  // What is wrong with the pool's loops, one sentence each; empty: they are not in this process.
  using Problems = std::function<std::vector<std::string>()>;

  StatusApi(PoolStore& store, BlockingThreads& threads, const Sessions& sessions,
            std::string version, Problems problems);
  StatusApi(const StatusApi&) = delete;
  StatusApi& operator=(const StatusApi&) = delete;

  // The routes refer to this object.
  void add_routes(Router& router);

 private:
  boost::asio::awaitable<Response> readyz();
  boost::asio::awaitable<Response> metrics();

  PoolStore& store_;
  BlockingThreads& threads_;
  const Sessions& sessions_;
  const std::string version_;
  const Problems problems_;
};

}  // namespace navtalk::server
