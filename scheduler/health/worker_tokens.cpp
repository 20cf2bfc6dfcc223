#include "scheduler/health/worker_tokens.h"

#include "core/base/error.h"
#include "core/net/hmac.h"
#include "scheduler/pool/identity.h"

namespace navtalk {

void check_clear_text(const HttpUrl& url, bool allow_http) {
  if (url.secure || url.loopback() || allow_http) return;
  throw Error(Code::invalid,
              "http:// would show the worker's token to the network between: use https://, or set "
              "pool.allow_http_workers for a network that you trust");
}

std::string WorkerTokens::of(const Gpu& gpu) const {
  check_clear_text(parse_http_url(gpu.url), allow_http_);
  return gpu.source == Source::external ? of_url(gpu.url) : of_worker(worker_name(gpu.name));
}

std::string WorkerTokens::of(const Lease& lease) const {
  check_clear_text(parse_http_url(lease.url), allow_http_);
  return lease.origin == Origin::external ? of_url(lease.url) : of_worker(lease.worker);
}

std::string WorkerTokens::of_worker(const std::string& name) const {
  return derived("gpu:" + name);
}

std::string WorkerTokens::of_url(const std::string& url) const {
  return derived("url:" + parse_http_url(url).canonical());
}

std::string WorkerTokens::derived(const std::string& context) const {
  if (secret_.empty()) return "";
  return hmac_sha256_hex(secret_, context);
}

}  // namespace navtalk
