// The routes under /v1/pool: what an operator sees of the pool and does to it. Access judges who asks.
// Handlers run on the I/O thread, the store's calls on the blocking threads.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "scheduler/cost/budget.h"
#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"
#include "server/http/blocking_threads.h"
#include "server/http/router.h"

namespace navtalk::server {

struct OperatorOptions {
  PoolIdentity identity{};
  bool allow_http_workers = false;
  Budgets budgets{};
};

class OperatorApi {
 public:
  OperatorApi(PoolStore& store, BlockingThreads& threads, OperatorOptions options);
  OperatorApi(const OperatorApi&) = delete;
  OperatorApi& operator=(const OperatorApi&) = delete;

  // The routes refer to this object.
  void add_routes(Router& router);

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  Awaitable<Response> pool();
  Awaitable<Response> events(const Request& request);
  Awaitable<Response> cost(const Request& request);
  Awaitable<Response> add_gpu(const Request& request);
  Awaitable<Response> act_on_gpu(const Request& request, std::string action);

  PoolStore& store_;
  BlockingThreads& threads_;
  const OperatorOptions options_;
};

}  // namespace navtalk::server
