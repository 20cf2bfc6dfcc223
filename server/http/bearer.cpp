#include "server/http/bearer.h"

#include <openssl/crypto.h>

namespace navtalk::server {
namespace {

constexpr std::string_view k_scheme = "Bearer ";

}  // namespace

std::optional<std::string> bearer(const Request& request) {
  const std::string header = request.header("authorization").value_or("");
  if (!header.starts_with(k_scheme)) return std::nullopt;
  return header.substr(k_scheme.size());
}

bool has_token(const Request& request, std::string_view token) {
  if (token.empty()) return true;
  const std::optional<std::string> given = bearer(request);
  // The length of the token is not a secret.
  return given && given->size() == token.size() &&
         CRYPTO_memcmp(given->data(), token.data(), token.size()) == 0;
}

}  // namespace navtalk::server
