#include "core/net/hmac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "core/base/error.h"

namespace navtalk {

std::string hmac_sha256_hex(std::string_view secret, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes, text.size(),
           digest.data(), &size) == nullptr) {
    throw Error(Code::failed, "OpenSSL offers no HMAC-SHA256, which signatures need");
  }
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += k_digits[digest.at(i) >> 4U];
    hex += k_digits[digest.at(i) & 15U];
  }
  return hex;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace navtalk
