// Browser tokens: what a page gets from its own server, which has the API key, to open one session.
//
//   BASE64URL(claims, a JSON object) "." BASE64URL(HMAC-SHA256(secret, the first part))
//
// Claims are signed, not hidden. Immutable values; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"
#include "scheduler/pool/gpu.h"

namespace navtalk {

struct ClientToken {
  std::string id{};   // random; a token is used once
  std::string key{};  // the id of the API key that asked for it; "": there was none
  TenantId tenant{};
  std::string avatar{};
  std::string origin{};    // of the page; "": any that the gateway allows
  Duration max_session{};  // zero: no bound
  TimePoint expires_at{};  // of the store's clock; a session begins before

  friend bool operator==(const ClientToken&, const ClientToken&) = default;
};

class ClientTokenSigner {
 public:
  // `secret`: the same on all gateways of a pool.
  explicit ClientTokenSigner(std::string secret) : secret_(std::move(secret)) {}

  std::string sign(const ClientToken& token) const;
  // nullopt for what these gateways have not signed. The expiry is the caller's to judge.
  std::optional<ClientToken> verify(std::string_view text) const;

 private:
  std::string mac(std::string_view claims) const;

  std::string secret_;
};

}  // namespace navtalk
