// What bounds a live session at the gateway.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/trace_exporter.h"
#include "scheduler/health/worker_tokens.h"
#include "server/http/socket/read_pace.h"

namespace navtalk::server {

struct SessionOptions {
  WorkerTokens worker_tokens{};
  std::shared_ptr<TraceExporter> traces{};          // nullptr: sessions are not traced
  std::size_t max_sessions = 1000;                  // waiting ones included
  std::chrono::milliseconds start_within{10'000};   // a client's session.start
  std::chrono::milliseconds connect_within{5'000};  // to a worker
  std::chrono::milliseconds ready_within{30'000};  // a worker's session.ready, or its next progress
  std::chrono::milliseconds prepared_within{600'000};  // its session.ready, however much it reports
  std::chrono::milliseconds client_idle_timeout{40'000};  // pings included
  // A client that does not read gets no pictures after so long, and is disconnected in the end.
  std::chrono::milliseconds slow_video{500}, slow_client{8'000};
  // How long a session keeps its slot for a client whose connection dropped.
  std::chrono::milliseconds resume_within{30'000};
  // A worker that sends no frame for so long, though it had sent pictures, is lost.
  std::chrono::milliseconds worker_silence{5'000};
  // A client in the queue hears of it at least so often, so that it notices when its network is gone.
  std::chrono::milliseconds queue_told_again{10'000};
  PaceLimits before_ready{};  // how fast a client is read until its session is ready
  // Of a client in its session; further ones wait, with what comes behind them.
  TokenBucket::Rate control_frames{.burst = 100, .per_second = 20};
  // Reverse proxies of other machines, as numbers: who comes from them is who they say.
  std::vector<std::string> trusted_proxies{};
  // Where this gateway has no descriptor or port to reach a worker.
  int shortage_tries = 5;
  std::chrono::milliseconds after_shortage{1'000};
};

}  // namespace navtalk::server
