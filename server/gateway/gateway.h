// The front of the pool: users' live sessions (session/), the web page (pages/), the operator's
// routes, health and metrics. HTTP and WebSockets run on the thread that calls run(), calls of the store on a few
// threads of its own.
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
#include "server/gateway/pages/avatar_api.h"
#include "server/gateway/session/session_options.h"

namespace navtalk::server {

struct GatewayOptions {
  std::string listen = "127.0.0.1:2160";
  std::string version{};
  PoolIdentity identity{};
  std::string operator_key{};       // of the routes under /v1/pool; empty: they refuse everyone
  bool allow_http_workers = false;  // that are registered there
  // What is wrong with the pool's loops, one sentence each. For /readyz; empty: they are not in
  // this process.
  std::function<std::vector<std::string>()> problems{};
  // How long sessions may go on after SIGTERM.
  std::chrono::milliseconds stop_notice{5'000};
  AvatarList avatars{};  // that users choose from
  SessionOptions session{};
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
  // Until a stop is requested: sessions get their notice, leases are released.
  void run(const std::stop_token& stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace navtalk::server
