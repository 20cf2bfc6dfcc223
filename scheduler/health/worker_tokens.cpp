#include "scheduler/health/worker_tokens.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "core/base/error.h"
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
  return lease.source == Source::external ? of_url(lease.url) : of_worker(lease.worker);
}

std::string WorkerTokens::of_worker(const std::string& name) const {
  return derived("gpu:" + name);
}

std::string WorkerTokens::of_url(const std::string& url) const {
  return derived("url:" + parse_http_url(url).canonical());
}

std::string WorkerTokens::derived(const std::string& context) const {
  if (secret_.empty()) return "";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
           reinterpret_cast<const unsigned char*>(context.data()), context.size(), digest.data(),
           &size) == nullptr) {
    throw Error(Code::failed, "OpenSSL offers no HMAC-SHA256, which workers' tokens need");
  }
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += {k_digits[digest[i] >> 4], k_digits[digest[i] & 15]};
  }
  return text;
}

}  // namespace navtalk
