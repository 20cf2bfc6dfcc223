// API keys: who a program is that asks a gateway. The pool keeps a key's hash alone, which is enough
// because a key is random:
//
//   nt_0123456789ab_<64 hexadecimal digits>     256 random bits
//      └── id: the row, shown in lists and logs
//
// Plain values and functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"
#include "scheduler/pool/gpu.h"

namespace navtalk {

enum class Role : std::uint8_t { user, admin };
std::string_view name(Role role);

struct ApiKey {
  std::string id{};
  std::string hash{};  // see hash_of()
  TenantId tenant{};
  Role role = Role::user;
  TimePoint created_at{};  // times are the store's
  std::optional<TimePoint> expires_at{}, revoked_at{};

  friend bool operator==(const ApiKey&, const ApiKey&) = default;
};

enum class KeyState : std::uint8_t { valid, expired, revoked };
std::string_view name(KeyState state);
KeyState state_of(const ApiKey& key, TimePoint now);

// A new key's text. Error{failed} when the system gives no random bytes.
std::string make_key_text();
// nullopt for text that does not have the form of a key.
std::optional<std::string> key_id(std::string_view text);
// SHA-256 of the whole text, as 64 hexadecimal digits.
std::string hash_of(std::string_view text);
// Whether the text is that key. The time that it takes does not depend on where they differ.
bool is_key(std::string_view text, const ApiKey& key);

}  // namespace navtalk
