// API keys and used browser tokens, on both databases.
#include "scheduler/access/key_store.h"
#include "tests/scheduler/store/store_place.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

KeyStore open_keys(const auto& place) { return KeyStore(StoreBackend::open(place.url())); }

}  // namespace

STORE_TEST("a key is stored as its hash alone, and found again by it") {
  const TestType place;
  KeyStore keys = open_keys(place);
  CHECK(keys.list().keys.empty());
  const MadeKey made = keys.create({.tenant = {"acme"}, .role = Role::admin, .lifetime = 1h});
  CHECK(made.key.id == key_id(made.text));
  CHECK(made.key.expires_at == made.key.created_at + 1h);
  KeyStore others = open_keys(place);  // another gateway
  const KeyList list = others.list();
  REQUIRE(list.keys.size() == 1);
  CHECK(list.keys[0] == made.key);
  CHECK(list.now >= made.key.created_at);
  CHECK(is_key(made.text, list.keys[0]));
  CHECK(list.keys[0].hash.find(made.text.substr(16)) == std::string::npos);
  std::string other = made.text;
  other.back() = other.back() == '0' ? '1' : '0';
  CHECK_FALSE(is_key(other, list.keys[0]));
}

STORE_TEST("a key that is revoked is a change that gateways are told of") {
  const TestType place;
  const auto backend = StoreBackend::open(place.url());
  KeyStore keys(backend);
  const MadeKey made = keys.create({.tenant = {"acme"}});
  std::uint64_t seen = backend->wait_for_change(0, 1min, {});
  open_keys(place).revoke(made.key.id);  // by another process
  const auto asked_at = std::chrono::steady_clock::now();
  const std::uint64_t before = seen;
  while (seen == before && std::chrono::steady_clock::now() - asked_at < 1min)
    seen = backend->wait_for_change(seen, 1min, {});
  CHECK(seen != before);
}

STORE_TEST("a key is revoked once and for all, and its row stays") {
  const TestType place;
  KeyStore keys = open_keys(place);
  const MadeKey made = keys.create({.tenant = {"acme"}});
  CHECK(state_of(made.key, keys.now()) == KeyState::valid);
  const auto revoked = keys.revoke(made.key.id);
  REQUIRE(revoked);
  CHECK(state_of(*revoked, keys.now()) == KeyState::revoked);
  CHECK(keys.revoke(made.key.id) == revoked);
  CHECK(keys.list().keys == std::vector<ApiKey>{*revoked});
  CHECK_FALSE(keys.revoke("nobody"));
}

STORE_TEST("a key expires by the store's clock") {
  const TestType place;
  KeyStore keys = open_keys(place);
  const ApiKey key = keys.create({.tenant = {"acme"}, .lifetime = 60s}).key;
  CHECK(state_of(key, *key.expires_at - Duration(1)) == KeyState::valid);
  CHECK(state_of(key, *key.expires_at) == KeyState::expired);
  CHECK_FALSE(keys.create({.tenant = {"acme"}}).key.expires_at);
}

STORE_TEST("a key needs a valid tenant") {
  const TestType place;
  KeyStore keys = open_keys(place);
  for (const char* const name : {"", "a b", "a\nb", "../x/y"}) {
    CHECK_THROWS_WITH(keys.create({.tenant = {name}}), Catch::Contains("not a valid tenant name"));
  }
  CHECK_THROWS(keys.create({.tenant = {std::string(65, 'a')}}));
  // Its jobs are those that come without a key.
  for (const Role role : {Role::user, Role::admin})
    CHECK_THROWS_WITH(keys.create({.tenant = {"local"}, .role = role}),
                      Catch::Contains("the tenant name 'local' is reserved"));
  CHECK(keys.list().keys.empty());
}

STORE_TEST("a browser token is taken once, whichever gateway asks") {
  const TestType place;
  KeyStore one = open_keys(place), other = open_keys(place);
  const TimePoint until = one.now() + 60s;
  CHECK(one.redeem("a", until) == Redemption::taken);
  CHECK(other.redeem("a", until) == Redemption::used_before);
  CHECK(one.redeem("a", until) == Redemption::used_before);
  CHECK(other.redeem("b", until) == Redemption::taken);
  CHECK(one.redeem("c", one.now()) == Redemption::expired);
}

STORE_TEST(
    "a tenant has no more users in the queue than it may, and the others have their places") {
  const TestType place;
  const auto store = place.open();
  const auto enqueue = [&](const char* id, const char* tenant, int most) {
    Claimant claimant{.id = {id}, .tenant = {tenant}, .max_waiting = most};
    return store->enqueue(claimant, 100, 30s).has_value();
  };
  CHECK(enqueue("a", "acme", 1));
  CHECK(enqueue("a", "acme", 1));  // the same user again
  CHECK_FALSE(enqueue("b", "acme", 1));
  CHECK(enqueue("c", "other", 1));
  CHECK_FALSE(enqueue("d", "third", 0));
  CHECK(enqueue("b", "acme", -1));
}
