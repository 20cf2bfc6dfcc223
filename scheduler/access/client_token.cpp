#include "scheduler/access/client_token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/base64url.h"

namespace navtalk {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t k_longest_token = 4096;

}  // namespace

std::string ClientTokenSigner::mac(std::string_view claims) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
           reinterpret_cast<const unsigned char*>(claims.data()), claims.size(), digest.data(),
           &size) == nullptr) {
    throw Error(Code::failed, "OpenSSL offers no HMAC-SHA256, which browser tokens need");
  }
  return base64url({reinterpret_cast<const char*>(digest.data()), size});
}

std::string ClientTokenSigner::sign(const ClientToken& token) const {
  const Json claims = {{"id", token.id},
                       {"key", token.key},
                       {"tenant", token.tenant.text},
                       {"avatar", token.avatar},
                       {"origin", token.origin},
                       {"max_session_us", token.max_session.count()},
                       {"expires_us", token.expires_at.time_since_epoch().count()}};
  const std::string text = base64url(claims.dump());
  return text + "." + mac(text);
}

std::optional<ClientToken> ClientTokenSigner::verify(std::string_view text) const {
  const std::size_t dot = text.find('.');
  if (text.size() > k_longest_token || dot == text.npos) return std::nullopt;
  const std::string_view claims = text.substr(0, dot), signature = text.substr(dot + 1);
  const std::string expected = mac(claims);
  if (signature.size() != expected.size() ||
      CRYPTO_memcmp(signature.data(), expected.data(), expected.size()) != 0) {
    return std::nullopt;
  }
  try {
    const Json object = Json::parse(from_base64url(claims).value_or(""));
    return ClientToken{
        .id = object.at("id"),
        .key = object.at("key"),
        .tenant = {object.at("tenant")},
        .avatar = object.at("avatar"),
        .origin = object.at("origin"),
        .max_session = Duration(object.at("max_session_us").get<std::int64_t>()),
        .expires_at = TimePoint(Duration(object.at("expires_us").get<std::int64_t>()))};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // of another version
  }
}

}  // namespace navtalk
