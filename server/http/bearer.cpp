#include "server/http/bearer.h"

#include <openssl/crypto.h>

namespace navtalk::server {
namespace {

constexpr std::string_view k_scheme = "Bearer ";

}  // namespace

bool has_token(const Request& request, std::string_view token) {
  if (token.empty()) return true;
  const std::string header = request.header("authorization").value_or("");
  if (!header.starts_with(k_scheme)) return false;
  const std::string_view given = std::string_view(header).substr(k_scheme.size());
  // The length of the token is not a secret.
  return given.size() == token.size() &&
         CRYPTO_memcmp(given.data(), token.data(), token.size()) == 0;
}

}  // namespace navtalk::server
