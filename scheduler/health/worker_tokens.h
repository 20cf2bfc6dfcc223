// The token of each worker, derived from the pool's secret, so that one token opens one worker:
//
//   local, cloud   HMAC-SHA256(secret, "gpu:" + the worker's name), in hexadecimal digits
//   registered     HMAC-SHA256(secret, "url:" + the canonical URL)
//
// A worker gets its name when it is created, and nothing else ever has it. The name is in the row, on
// a local worker's command line and at the cloud: every process with the secret derives the same
// token, also for an instance that it adopts. An immutable value, so thread-safe.
#pragma once

#include <string>

#include "core/net/url.h"
#include "scheduler/pool/gpu.h"
#include "scheduler/pool/session.h"

namespace navtalk {

class WorkerTokens {
 public:
  // Workers that ask for no token: each one is "".
  WorkerTokens() = default;
  // `allow_http`: as for check_clear_text().
  explicit WorkerTokens(std::string secret, bool allow_http = false)
      : secret_(std::move(secret)), allow_http_(allow_http) {}

  // For a request to the worker of that row, or of that lease. Error{invalid} when its URL is not
  // valid, or the token would travel in clear text.
  std::string of(const Gpu& gpu) const;
  std::string of(const Lease& lease) const;
  // What a worker is started with, by its name (scheduler/pool/identity.h).
  std::string of_worker(const std::string& name) const;
  // What a registered worker has to be given, however its URL is written. Error{invalid} for what
  // is not a URL.
  std::string of_url(const std::string& url) const;
  // A secret of this pool's gateways for something else than workers, such as "client tokens". Nothing
  // that a worker has leads to it.
  std::string of_purpose(const std::string& purpose) const { return derived("for:" + purpose); }

 private:
  std::string derived(const std::string& context) const;

  std::string secret_{};
  bool allow_http_ = false;
};

// Error{invalid} for an http:// URL beyond loopback, which would show a worker's token to the network.
// `allow_http`: pool.allow_http_workers; the operator trusts the network.
void check_clear_text(const HttpUrl& url, bool allow_http);

}  // namespace navtalk
