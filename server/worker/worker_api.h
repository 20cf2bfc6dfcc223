// The worker's HTTP routes (docs/protocol.md): health, metrics, pause, wake, prepare and drain, and
// the guard of all of them. Of the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "core/base/id.h"
#include "gpu/engine/inference_engine.h"
#include "server/http/metrics.h"
#include "server/http/router.h"
#include "server/worker/idle_shutdown.h"
#include "server/worker/model_lifecycle.h"
#include "server/worker/session/worker_sessions.h"

namespace navtalk::server {

class WorkerApi {
 public:
  struct Parts {
    boost::asio::any_io_executor executor;
    ModelLifecycle& models;
    WorkerSessions& sessions;
    Renderers& renderers;
    DeviceRoom& room;
    IdleShutdown& idle;
    const InferenceEngine& inference;
    std::function<bool()> stopping;  // the process ends
  };
  WorkerApi(Parts parts, std::string token, std::string version);
  WorkerApi(const WorkerApi&) = delete;
  WorkerApi& operator=(const WorkerApi&) = delete;

  // The router refers to this object.
  Router router();

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  Awaitable<std::optional<Response>> check(const Request& request);
  std::optional<Response> refuse_caller(const Request& request) const;
  Response health() const;
  Response metrics() const;
  void device_metrics(MetricsPage& page) const;
  void memory_metrics(MetricsPage& page) const;
  void live_metrics(MetricsPage& page) const;
  Awaitable<Response> pause();
  Awaitable<Response> wake();
  Awaitable<Response> prepare(const Request& request);
  Response drain(const Request& request);

  const Parts parts_;
  const std::string token_, version_;
  const std::string instance_ = random_id();  // of this process, whatever address leads to it
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace navtalk::server
