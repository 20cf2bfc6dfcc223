// The front of the pool: users' live sessions, the operator's routes, metrics. It asks the
// allocator for slots, connects to workers, and relays frames without looking into media. HTTP and
// WebSockets run on the thread that calls run(); store calls on a few threads of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/queue/allocator.h"

namespace navtalk::server {

struct GatewayOptions {
  std::string listen = "127.0.0.1:2160";
  std::string worker_token{};  // shown to workers
  std::string version{};
  PoolIdentity identity{};
  // What is wrong with the pool's loops, one sentence each. For /readyz; missing: there are none
  // here.
  std::function<std::vector<std::string>()> problems{};
  std::size_t max_sessions = 1000;  // waiting ones included
  // How long sessions may go on after SIGTERM.
  std::chrono::milliseconds stop_notice{5'000};
  std::chrono::milliseconds start_within{10'000};    // a client's session.start
  std::chrono::milliseconds connect_within{5'000};   // to a worker
  std::chrono::milliseconds ready_within{30'000};    // its session.ready, avatar loaded
  std::chrono::milliseconds client_silence{40'000};  // pings included
  // A client that does not read for so long is let go; well before its worker, whose frames then
  // wait too, counts as silent.
  std::chrono::milliseconds slow_client{8'000};
};

class Gateway {
 public:
  // Listens at once. Error{invalid} for an address that is not loopback; Error{failed} when it is
  // taken. Store and allocator outlive the gateway.
  Gateway(PoolStore& store, Allocator& allocator, GatewayOptions options);
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // "http://127.0.0.1:2160"
  std::string url() const;
  // Until a stop is asked: sessions get their notice, leases are given back.
  void run(const std::stop_token& stop);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace navtalk::server
