// What single migrations carry over from the version before them.
#include "core/database/postgres.h"
#include "core/database/sqlite.h"
#include "scheduler/store/migration.h"
#include "scheduler/store/postgres/postgres_backend.h"
#include "scheduler/store/sqlite/sqlite_backend.h"
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

std::unique_ptr<DbConnection> at_version(int version, const SqlitePlace& place) {
  auto db = std::make_unique<SqliteConnection>(place.file(), std::chrono::seconds(5));
  migrate(*db, sqlite_migrations().first(static_cast<std::size_t>(version)), "pool.db");
  return db;
}

std::unique_ptr<DbConnection> at_version(int version, const PostgresPlace& place) {
  auto db = std::make_unique<PostgresConnection>(place.url());
  migrate(*db, postgres_migrations().first(static_cast<std::size_t>(version)));
  return db;
}

// As version 2 wrote it.
void insert_paused(DbConnection& db, const std::string& id, int intent_number) {
  db.run(
      "INSERT INTO gpus (id, name, source, state, draining, dedicated_to, slots, sessions, host, "
      "device, url, provider_id, usd_per_hour, created_at, since, seen_at, last_error, "
      "reserved_for, operation, intent_number, intent_owner, intent_until, intent_called, "
      "intent_since, intent_tries, epoch, version) VALUES ($1, $1, 2, 3, 0, '', 1, 0, '', '', '', "
      "'', 0.5, 1, 1, 1, '', '', 0, $2, '', 0, 0, 0, 0, 0, 1)",
      {id, std::int64_t{intent_number}});
}

}  // namespace

STORE_TEST("what an operator paused under version 2 is kept under version 3") {
  const TestType place;
  {
    const auto db = at_version(2, place);
    insert_paused(*db, "runpod-1", 5);
    insert_paused(*db, "runpod-12", 6);
    insert_paused(*db, "runpod-2", 7);
    db->script(
        "INSERT INTO settings VALUES ('operator.paused', '{\"runpod-1\":5,\"runpod-2\":3}')");
  }
  const auto store = place.open();
  CHECK(kept_paused(found(*store, "runpod-1")));
  CHECK(!kept_paused(found(*store, "runpod-12")));  // not in the list
  CHECK(!kept_paused(found(*store, "runpod-2")));   // woken and paused again since
  CHECK(!store->setting("operator.paused"));
}

STORE_TEST("a store that exists gives epochs above those that it gave under version 6") {
  const TestType place;
  {
    const auto db = at_version(6, place);
    insert_paused(*db, "runpod-1", 5);
    db->script("UPDATE gpus SET state = 0, epoch = 7, slots = 1, url = 'http://127.0.0.1:1'");
  }
  const auto store = place.open();
  CHECK(claimed(*store, user("u")).epoch > std::uint64_t{1} << 40);
}

STORE_TEST("a list of pauses that version 3 cannot read keeps nothing") {
  const std::string text = GENERATE("", "nonsense", "[]", R"({"runpod-1":"x"})");
  const TestType place;
  {
    const auto db = at_version(2, place);
    insert_paused(*db, "runpod-1", 5);
    db->run("INSERT INTO settings VALUES ('operator.paused', $1)", {text});
    db->script("SELECT 1");
  }
  CHECK(found(*place.open(), "runpod-1").operator_pause == 0);
}
