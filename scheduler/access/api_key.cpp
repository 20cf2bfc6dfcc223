#include "scheduler/access/api_key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace navtalk {
namespace {

constexpr std::string_view k_mark = "nt_";
constexpr std::size_t k_id_digits = 12, k_secret_digits = 64;

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string_view name(Role role) { return role == Role::admin ? "admin" : "user"; }

std::string_view name(KeyState state) {
  switch (state) {
    case KeyState::valid:
      return "valid";
    case KeyState::expired:
      return "expired";
    case KeyState::revoked:
      return "revoked";
  }
  return "?";
}

KeyState state_of(const ApiKey& key, TimePoint now) {
  if (key.revoked_at) return KeyState::revoked;
  return key.expires_at && now >= *key.expires_at ? KeyState::expired : KeyState::valid;
}

std::string make_key_text() {
  return std::string(k_mark) + random_id().substr(0, k_id_digits) + "_" + random_id() + random_id();
}

std::optional<std::string> key_id(std::string_view text) {
  const std::size_t secret_at = k_mark.size() + k_id_digits + 1;
  if (text.size() != secret_at + k_secret_digits || !text.starts_with(k_mark)) return std::nullopt;
  const std::string_view id = text.substr(k_mark.size(), k_id_digits);
  const bool fits = is_hex(id) && text[secret_at - 1] == '_' && is_hex(text.substr(secret_at));
  return fits ? std::optional(std::string(id)) : std::nullopt;
}

std::string hash_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw Error(Code::failed, "OpenSSL offers no SHA-256, which API keys need");
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string hash;
  for (unsigned i = 0; i < size; ++i) hash += {k_digits[digest[i] >> 4], k_digits[digest[i] & 15]};
  return hash;
}

bool is_key(std::string_view text, const ApiKey& key) {
  const std::string hash = hash_of(text);
  return hash.size() == key.hash.size() &&
         CRYPTO_memcmp(hash.data(), key.hash.data(), hash.size()) == 0;
}

}  // namespace navtalk
