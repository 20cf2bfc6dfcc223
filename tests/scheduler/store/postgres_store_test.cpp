// What only PostgreSQL has: a server that goes and comes.
#include <signal.h>

#include "core/base/error.h"
#include "core/database/postgres.h"
#include "scheduler/store/migration.h"
#include "scheduler/store/postgres/postgres_backend.h"
#include "tests/core/expect_error.h"
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

std::int64_t number(PostgresConnection& db, const std::string& sql) {
  const auto rows = db.batch(sql);
  REQUIRE(rows->next());
  return rows->integer(0);
}

}  // namespace

TEST_CASE("a PostgreSQL store of a newer version is refused and not touched") {
  if (!PostgresPlace::there()) return;
  const PostgresPlace place;
  place.open();
  PostgresConnection db(place.url());
  db.script("UPDATE pool_version SET version = 1000");
  test::expect_error(Code::invalid, {"version 1000", "newer"}, [&] { place.open(); });
  CHECK(number(db, "SELECT version FROM pool_version") == 1000);
}

TEST_CASE("a PostgreSQL migration that breaks off leaves the version before it") {
  if (!PostgresPlace::there()) return;
  const PostgresPlace place;
  const std::vector<Migration> bad = {
      {1, "0001-first", "CREATE TABLE first (x BIGINT)"},
      {2, "0002-second", "CREATE TABLE second (x BIGINT); INSERT INTO nowhere VALUES (1)"}};
  {
    PostgresConnection db(place.url());
    test::expect_error(Code::failed, {"0002-second", "nowhere"}, [&] { migrate(db, bad); });
  }
  PostgresConnection db(place.url());
  CHECK(number(db, "SELECT version FROM pool_version") == 1);
  CHECK(number(db, "SELECT COUNT(to_regclass('second'))") == 0);
}

TEST_CASE("what PostgreSQL says is one readable line") {
  if (!PostgresPlace::there()) return;
  PostgresServer server;
  const std::string url = server.fresh_schema();
  const auto readable = [](const Error& error) {
    INFO(error.message());
    CHECK(error.message().find_first_of("\n\t\\") == std::string::npos);
  };
  PostgresConnection db(url);
  readable(test::error_of([&] { db.script("SELECT\n\tnowhere"); }));
  server.stop(SIGINT);
  readable(test::error_of([&] { db.script("SELECT 1"); }));
  readable(test::error_of([&] { PostgresConnection another(url); }));
}

TEST_CASE(
    "what PostgreSQL says against a kept change is thrown by the next query, and nothing is kept") {
  if (!PostgresPlace::there()) return;
  const PostgresPlace place;
  const auto backend = StoreBackend::open(place.url());
  bool later = false;
  test::expect_error(Code::failed, {"division by zero"}, [&] {
    backend->write(Durability::durable, [&](Transaction& t) {
      t.db.run("UPDATE job_lane SET gpus = $1 WHERE id = 1", {7.0});
      t.db.run("UPDATE job_lane SET rate = 1 / (id - 1) WHERE id = $1", {std::int64_t{1}});
      later = true;
      t.db.query("SELECT gpus FROM job_lane WHERE id = 1", {});
      FAIL("the query says nothing");
    });
  });
  CHECK(later);
  PostgresConnection db(place.url());
  CHECK(number(db, "SELECT COUNT(*) FROM job_lane") == 1);
  CHECK(number(db, "SELECT COUNT(*) FROM job_lane WHERE gpus = 7") == 0);
  // The connection goes on.
  backend->write(Durability::durable, [](Transaction& t) {
    t.db.run("UPDATE job_lane SET gpus = $1 WHERE id = 1", {8.0});
  });
  CHECK(number(db, "SELECT COUNT(*) FROM job_lane WHERE gpus = 8") == 1);
}

TEST_CASE("a PostgreSQL server that stops is an error until it is back") {
  if (!PostgresPlace::there()) return;
  PostgresServer server;
  const std::string url = server.fresh_schema();
  const auto store = PoolStore::open(url);
  add(*store, gpu_row("a", State::idle, 2));
  const Lease lease = claimed(*store, user("u"));
  const std::uint64_t seen = store->wait_for_change(0, k_minute, {});
  server.stop(SIGINT);
  test::expect_error(Code::failed, {"PostgreSQL"}, [&] { store->view(); });
  test::expect_error(Code::failed, {"PostgreSQL"}, [&] { store->claim(user("v"), k_minute); });
  server.start();
  CHECK(store->leases().size() == 1);
  CHECK(claimed(*store, user("u")) == lease);
  CHECK(claimed(*store, user("v")).epoch == lease.epoch + 1);
  CHECK(store->wait_for_change(seen, k_minute, {}) != seen);  // listens again
}

TEST_CASE("after a crash of PostgreSQL GPU rows are there, and epochs start higher") {
  if (!PostgresPlace::there()) return;
  PostgresServer server;
  const auto store = PoolStore::open(server.fresh_schema());
  add(*store, gpu_row("a", State::idle, 2));
  const Lease lease = claimed(*store, user("u"));
  server.stop(SIGQUIT);
  server.start();
  CHECK(found(*store, "a").slots == 2);
  const Lease next = claimed(*store, user("v"));
  CHECK(next.epoch > lease.epoch + 1'000'000);
  CHECK(claimed(*store, user("w-" + next.id.text)).epoch == next.epoch + 1);
}

TEST_CASE("a cut connection costs a call nothing but time") {
  if (!PostgresPlace::there()) return;
  const PostgresPlace place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  PostgresConnection other(PostgresPlace::server().url());
  other.script(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
      "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
  CHECK(found(*store, "a").version == 1);
  other.script(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
      "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
  CHECK(store->claim(user("u"), k_minute));
  CHECK(found(*store, "a").sessions == 1);
}

TEST_CASE("a server that is not there is named without the password") {
  const Error error = test::error_of(
      [] { PoolStore::open("postgresql://me:secret@127.0.0.1:1/pool?connect_timeout=2"); });
  CHECK(error.code() == Code::failed);
  CHECK_THAT(error.message(), Catch::Contains("127.0.0.1:1/pool"));
  CHECK(error.message().find("secret") == std::string::npos);
}

TEST_CASE("text that PostgreSQL cannot hold is kept in a printable form") {
  if (!PostgresPlace::there()) return;
  const PostgresPlace place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  const std::string odd("bad\xff\0end", 8);
  change(*store, {.id = {"a"}, .version = 1, .last_error = odd});
  CHECK_THAT(found(*store, "a").last_error, Catch::Contains("bad") && Catch::Contains("end"));
}
