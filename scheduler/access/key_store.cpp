#include "scheduler/access/key_store.h"

#include "scheduler/pool/tenant_name.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/run_work.h"

namespace navtalk {
namespace {

#define NAVTALK_KEY_COLUMNS "id, hash, tenant, role, created_at, expires_at, revoked_at"

ApiKey read_key(DbRows& rows) {
  return {.id = column::text(rows, 0),
          .hash = column::text(rows, 1),
          .tenant = {column::text(rows, 2)},
          .role = column::number<Role>(rows, 3),
          .created_at = column::time(rows, 4),
          .expires_at = column::maybe<TimePoint>(rows, 5),
          .revoked_at = column::maybe<TimePoint>(rows, 6)};
}

std::optional<ApiKey> find_key(Transaction& t, const std::string& id) {
  const auto rows = t.db.query("SELECT " NAVTALK_KEY_COLUMNS " FROM api_keys WHERE id = $1", {id});
  return rows->next() ? std::optional(read_key(*rows)) : std::nullopt;
}

}  // namespace

MadeKey KeyStore::create(const NewKey& wanted) {
  check_tenant_of_key(wanted.tenant);
  MadeKey made{.text = make_key_text()};
  made.key = {.id = key_id(made.text).value(),
              .hash = hash_of(made.text),
              .tenant = wanted.tenant,
              .role = wanted.role};
  backend_->write(Durability::durable, [&](Transaction& t) {
    made.key.created_at = t.now;
    if (wanted.lifetime) made.key.expires_at = t.now + *wanted.lifetime;
    t.db.run("INSERT INTO api_keys (" NAVTALK_KEY_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7)",
             {made.key.id, made.key.hash, made.key.tenant.text, column::of(made.key.role),
              column::of(made.key.created_at), column::of(made.key.expires_at), std::monostate()});
  });
  return made;
}

KeyList KeyStore::list() {
  return in_read(*backend_, [](Transaction& t) {
    KeyList all{.now = t.now};
    const auto rows =
        t.db.query("SELECT " NAVTALK_KEY_COLUMNS " FROM api_keys ORDER BY created_at, id", {});
    while (rows->next()) all.keys.push_back(read_key(*rows));
    return all;
  });
}

std::optional<ApiKey> KeyStore::revoke(const std::string& id) {
  return in_write(*backend_, Durability::durable, [&](Transaction& t) {
    t.db.run("UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL",
             {id, column::of(t.now)});
    t.notify = true;  // gateways end its sessions
    return find_key(t, id);
  });
}

Redemption KeyStore::redeem(const std::string& id, TimePoint expires_at) {
  return in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    if (t.now >= expires_at) return Redemption::expired;
    t.db.run("DELETE FROM used_client_tokens WHERE expires_at <= $1", {column::of(t.now)});
    const auto rows = t.db.query(
        "INSERT INTO used_client_tokens (id, expires_at) VALUES ($1, $2) "
        "ON CONFLICT (id) DO NOTHING RETURNING id",
        {id, column::of(expires_at)});
    bool taken = false;
    while (rows->next()) taken = true;
    return taken ? Redemption::taken : Redemption::used_before;
  });
}

}  // namespace navtalk
