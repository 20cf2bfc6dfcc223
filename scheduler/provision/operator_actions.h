// What an operator does to single GPUs, from the shell (`navtalk pool ...`) or over HTTP. Each only
// writes to the store; whoever runs the pool carries it out. All give the row as it is afterwards.
// Errors: Error{not_found} for an id that no GPU has (a unique beginning of an id is enough),
// Error{failed} when its state does not allow it, saying what would.
#pragma once

#include <string>

#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct Registration {
  std::string url;  // the worker's base URL
  int slots = 1;
  TenantId dedicated_to{};
  bool allow_http = false;  // beyond loopback: pool.allow_http_workers
};
// A worker that somebody else runs. Starting until its answers prove it ready. Error{invalid} for a
// URL that is not valid, is http:// beyond loopback, or belongs to a row already, however it is
// written, and for a tenant's name with other characters than letters, digits, '.', '_' and '-'.
Gpu register_gpu(PoolStore& store, const PoolIdentity& identity, const Registration& registration,
                 const std::string& who);

// Takes no new sessions; those that it has are told, and end when the notice is over.
Gpu drain_gpu(PoolStore& store, const std::string& id, Duration notice, const std::string& who);
// Takes sessions again, and keeps those that it has.
Gpu undrain_gpu(PoolStore& store, const std::string& id, const std::string& who);
// The notice where nobody names one, and the longest one.
inline constexpr Duration k_drain_notice = std::chrono::minutes(5);
inline constexpr Duration k_longest_drain_notice = std::chrono::hours(24);
Gpu wake_gpu(PoolStore& store, const std::string& id, const std::string& who);
// It stays paused until somebody wakes it: the scaler does not destroy it.
Gpu pause_gpu(PoolStore& store, const std::string& id, const std::string& who);
// Destroys it, or forgets an external one. Not while it has sessions.
Gpu remove_gpu(PoolStore& store, const std::string& id, const std::string& who);

}  // namespace navtalk
