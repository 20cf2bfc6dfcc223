// API keys and used browser tokens in the pool's store, shared by its gateways and commands. A method
// is one transaction; Error{failed} when the database cannot be reached or stays locked. Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/access/api_key.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

struct NewKey {
  TenantId tenant{};
  Role role = Role::user;
  std::optional<Duration> lifetime{};  // from now; nullopt: it does not expire
};

struct MadeKey {
  ApiKey key{};
  std::string text{};  // the key itself, which nothing keeps
};

// All keys at one time, oldest first.
struct KeyList {
  TimePoint now{};
  std::vector<ApiKey> keys{};
};

enum class Redemption : std::uint8_t { taken, used_before, expired };

class KeyStore {
 public:
  explicit KeyStore(std::shared_ptr<StoreBackend> backend) : backend_(std::move(backend)) {}

  // Error{invalid} as check_tenant_of_key().
  MadeKey create(const NewKey& wanted);
  KeyList list();
  // The row afterwards; revoking again changes nothing. nullopt: there is no such key.
  std::optional<ApiKey> revoke(const std::string& id);

  TimePoint now() { return backend_->now(); }
  // The first call for an id takes it, on whichever gateway. A crash of the store's machine may undo
  // it.
  Redemption redeem(const std::string& id, TimePoint expires_at);

 private:
  std::shared_ptr<StoreBackend> backend_;
};

}  // namespace navtalk
