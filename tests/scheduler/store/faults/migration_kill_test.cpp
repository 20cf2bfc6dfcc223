// A process that is killed in the middle of a migration leaves the version before it, whole.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "core/database/postgres.h"
#include "core/database/sqlite.h"
#include "scheduler/store/migration.h"
#include "scheduler/store/postgres/postgres_backend.h"
#include "scheduler/store/sqlite/sqlite_backend.h"
#include "tests/core/expect_error.h"
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr std::chrono::seconds k_patience(60);

const std::vector<Migration> k_first = {
    {1, "0001-first", "CREATE TABLE first (x BIGINT); INSERT INTO first VALUES (1)"}};

std::vector<Migration> with_second(std::string_view sql) {
  std::vector<Migration> all = k_first;
  all.push_back({2, "0002-second", sql});
  return all;
}

// Kills a process that does `work` as soon as `middle` holds.
void kill_in(const std::function<void()>& work, const std::function<bool()>& middle) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  const auto end = std::chrono::steady_clock::now() + k_patience;
  while (!middle() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
}

std::int64_t number(DbConnection& db, std::string_view sql) {
  const auto rows = db.query(sql, {});
  REQUIRE(rows->next());
  return rows->integer(0);
}

}  // namespace

TEST_CASE("an SQLite migration that is killed leaves the version before it") {
  const SqlitePlace place;
  {
    SqliteConnection db(place.file(), k_patience);
    migrate(db, k_first, "pool.db");
  }
  // For ever; what it has done does not fit into memory and lies in the log.
  const auto endless = with_second(
      "CREATE TABLE second (x INTEGER); UPDATE first SET x = 2; INSERT INTO second "
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n");
  std::filesystem::path log = place.file();
  log += "-wal";
  constexpr std::uintmax_t k_much = 1 << 20;
  kill_in(
      [&] {
        SqliteConnection db(place.file(), k_patience);
        migrate(db, endless, "pool.db");
      },
      [&] {
        std::error_code none;
        const auto size = std::filesystem::file_size(log, none);
        return !none && size > k_much;
      });
  SqliteConnection db(place.file(), k_patience);
  CHECK(number(db, "PRAGMA user_version") == 1);
  CHECK(number(db, "SELECT x FROM first") == 1);
  CHECK(number(db, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'second'") == 0);
  migrate(db, with_second("CREATE TABLE second (x INTEGER)"), "pool.db");
  CHECK(number(db, "PRAGMA user_version") == 2);
}

TEST_CASE("a PostgreSQL migration that is killed leaves the version before it") {
  if (!PostgresPlace::there()) return;
  const PostgresPlace place;
  PostgresConnection db(place.url());
  migrate(db, k_first);
  const auto slow =
      with_second("CREATE TABLE second (x BIGINT); UPDATE first SET x = 2; SELECT pg_sleep(0.5)");
  const auto sleeping = [&] {
    return number(db,
                  "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'another' AND "
                  "wait_event = 'PgSleep'") == 1;
  };
  kill_in(
      [&] {
        // The parent's connection is not ours to close.
        PostgresConnection mine(place.url_of_another());
        migrate(mine, slow);
      },
      sleeping);
  place.wait_for_the_killed();
  CHECK(number(db, "SELECT version FROM pool_version") == 1);
  CHECK(number(db, "SELECT x FROM first") == 1);
  CHECK(number(db, "SELECT COUNT(to_regclass('second'))") == 0);
  migrate(db, with_second("CREATE TABLE second (x BIGINT)"));
  CHECK(number(db, "SELECT version FROM pool_version") == 2);
}

TEST_CASE("a PostgreSQL migration whose server is stopped leaves the version before it") {
  if (!PostgresPlace::there()) return;
  PostgresServer server;
  const std::string url = server.fresh_schema();
  PostgresConnection(url).script("SELECT 1");
  {
    PostgresConnection db(url);
    migrate(db, k_first);
  }
  kill_in(
      [&] {
        PostgresConnection mine(url);
        migrate(mine, with_second("CREATE TABLE second (x BIGINT); SELECT pg_sleep(60)"));
      },
      [&] {
        PostgresConnection look(url);
        return number(look, "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") ==
               1;
      });
  server.stop(SIGQUIT);
  server.start();
  PostgresConnection db(url);
  CHECK(number(db, "SELECT version FROM pool_version") == 1);
  CHECK(number(db, "SELECT COUNT(to_regclass('second'))") == 0);
}
