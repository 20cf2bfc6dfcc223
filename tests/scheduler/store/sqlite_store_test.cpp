// What only SQLite has: files, locks, versions, the boot clock.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "core/base/error.h"
#include "core/database/sqlite.h"
#include "scheduler/store/sql_pool_store.h"
#include "scheduler/store/sqlite/sqlite_backend.h"
#include "tests/core/expect_error.h"
#include "tests/scheduler/store/pool_store_contract.h"
#include "tests/scheduler/store/processes/child.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr std::chrono::seconds k_patience(5);
// For a lock on the log, SQLite itself tries for ten seconds.
constexpr std::chrono::seconds k_longest_wait(30);

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::int64_t number(SqliteConnection& db, std::string_view sql) {
  const auto rows = db.query(sql, {});
  REQUIRE(rows->next());
  return rows->integer(0);
}

std::unique_ptr<PoolStore> hasty(const SqlitePlace& place) {
  return std::make_unique<SqlPoolStore>(std::make_unique<SqliteBackend>(
      place.file(), SqliteTimeouts{.queue = std::chrono::milliseconds(20),
                                   .lock = std::chrono::milliseconds(20)}));
}

}  // namespace

TEST_CASE("an SQLite store is made with its folder") {
  const TemporaryDirectory folder;
  const auto store = PoolStore::open("sqlite:" + (folder / "some/where/pool.db").native());
  CHECK(store->view().gpus.empty());
}

TEST_CASE("a folder that cannot be made is named") {
  test::expect_error(Code::failed, {"/proc/none"},
                     [] { PoolStore::open("sqlite:/proc/none/p.db"); });
}

TEST_CASE("a store of a newer version is refused and not touched") {
  const SqlitePlace place;
  place.open();
  {
    SqliteConnection db(place.file(), k_patience);
    db.script("PRAGMA user_version = 1000; PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const std::string before = bytes_of(place.file());
  test::expect_error(Code::invalid, {place.file(), "version 1000", "newer"}, [&] { place.open(); });
  CHECK(bytes_of(place.file()) == before);
}

TEST_CASE("a file that is not a pool store is refused and not touched") {
  const SqlitePlace place;
  {
    SqliteConnection db(place.file(), k_patience);
    db.script("CREATE TABLE diary (day TEXT)");
  }
  const std::string before = bytes_of(place.file());
  test::expect_error(Code::invalid, {place.file(), "not a pool store"}, [&] { place.open(); });
  CHECK(bytes_of(place.file()) == before);

  std::ofstream(place.file()) << std::string(4096, 'x');
  test::expect_error(Code::invalid, {"not an SQLite database"}, [&] { place.open(); });
}

TEST_CASE("a migration that breaks off leaves the version before it") {
  const SqlitePlace place;
  SqliteConnection db(place.file(), k_patience);
  const std::vector<Migration> good = {{1, "0001-first", "CREATE TABLE first (x INTEGER)"}};
  std::vector<Migration> bad = good;
  bad.push_back(
      {2, "0002-second", "CREATE TABLE second (x INTEGER); INSERT INTO nowhere VALUES (1)"});
  test::expect_error(Code::failed, {"0002-second", "nowhere"},
                     [&] { migrate(db, bad, "pool.db"); });
  CHECK(number(db, "PRAGMA user_version") == 1);
  CHECK(number(db, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'second'") == 0);
  bad[1].sql = "CREATE TABLE second (x INTEGER)";
  migrate(db, bad, "pool.db");
  migrate(db, bad, "pool.db");
  CHECK(number(db, "PRAGMA user_version") == 2);
  test::expect_error(Code::invalid, {"version 2"}, [&] { migrate(db, good, "pool.db"); });
}

TEST_CASE("migrations are numbered from 1 without gaps, the same for both databases") {
  const auto sqlite = sqlite_migrations(), postgres = postgres_migrations();
  REQUIRE(sqlite.size() == postgres.size());
  for (std::size_t i = 0; i < sqlite.size(); ++i) {
    CHECK(sqlite[i].version == static_cast<int>(i) + 1);
    CHECK(sqlite[i].name == postgres[i].name);
  }
}

TEST_CASE("a locked database is waited for, then named in the error, and works again") {
  const SqlitePlace place;
  const auto store = hasty(place);
  add(*store, gpu_row("a"));
  SqliteConnection foreign(place.file(), k_patience);
  foreign.script("BEGIN IMMEDIATE");
  test::expect_error(Code::failed, {place.file(), "locked by another process"},
                     [&] { store->claim(user("u"), k_minute); });
  CHECK(store->view().gpus.size() == 1);  // reading goes on
  foreign.script("COMMIT");
  CHECK(store->claim(user("u"), k_minute));
}

TEST_CASE("a process that is stopped while it writes delays the others a bounded time") {
  const SqlitePlace place;
  const auto store = hasty(place);
  for (int i = 0; i < 4; ++i) add(*store, gpu_row("g" + std::to_string(i)));
  Child child({NAVTALK_CLAIM_PROCESS, place.url(), "churn", "p", "60"});
  REQUIRE(child.line() == "ready");
  child.say("go");
  int refused = 0, done = 0;
  // Wherever a stop falls, each call ends; some stops fall into a transaction.
  for (int round = 0; round < 60; ++round) {
    store->wait_for_change(0, std::chrono::milliseconds(1), {});
    child.signal(SIGSTOP);
    const std::string id = "u" + std::to_string(round);
    const auto start = std::chrono::steady_clock::now();
    try {
      if (const auto lease = store->claim(user(id), k_minute)) {
        store->release(lease->id, lease->epoch);
      }
      ++done;
    } catch (const Error& error) {
      CHECK_THAT(error.message(), Catch::Contains("locked"));
      ++refused;
    }
    CHECK(std::chrono::steady_clock::now() - start < k_longest_wait);
    child.signal(SIGCONT);
  }
  CHECK(done + refused == 60);
  child.signal(SIGKILL);
  child.wait();
  for (const Lease& lease : store->leases()) CHECK(store->release(lease.id, lease.epoch));
  SqliteConnection db(place.file(), k_patience);
  const auto rows = db.query("PRAGMA integrity_check", {});
  REQUIRE(rows->next());
  CHECK(rows->text(0) == "ok");
}

TEST_CASE("the write lock is released when its holder is killed") {
  const TemporaryDirectory folder;
  WriteLock lock(folder / "lock");
  const pid_t child = fork();
  if (child == 0) {
    const auto hold = lock.take(k_patience);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  for (int i = 0; i < 3; ++i) CHECK(lock.take(k_patience).has_value());
}

TEST_CASE("nobody waits for the write lock longer than asked") {
  const TemporaryDirectory folder;
  WriteLock lock(folder / "lock"), other(folder / "lock");
  {
    const auto hold = lock.take(k_patience);
    REQUIRE(hold);
    std::jthread([&] { CHECK(!other.take(std::chrono::milliseconds(10))); }).join();
    std::jthread([&] { CHECK(!other.take(std::chrono::milliseconds(10))); }).join();
  }
  std::jthread([&] { CHECK(other.take(k_patience)); }).join();
}

TEST_CASE("maintenance of the file is done by one thread at a time") {
  const TemporaryDirectory folder;
  WriteLock lock(folder / "lock");
  int done = 0;
  lock.unless_busy([&] {
    ++done;
    std::jthread([&] { lock.unless_busy([&] { ++done; }); }).join();
  });
  lock.unless_busy([&] { ++done; });
  CHECK(done == 2);
}

TEST_CASE("after a boot the store's clock does not go back, and epochs start higher") {
  const SqlitePlace place;
  std::uint64_t epoch = 0;
  const TimePoint future = [&] {
    const auto store = place.open();
    add(*store, gpu_row("a"));
    epoch = claimed(*store, user("u")).epoch;
    return store->now() + std::chrono::hours(24);
  }();
  {
    // As an earlier boot whose clock ran a day ahead would have left it.
    SqliteConnection db(place.file(), k_patience);
    db.run("UPDATE clock SET boot_id = 'another', last = $1", {future.time_since_epoch().count()});
  }
  const auto store = place.open();
  CHECK(store->now() >= future);
  REQUIRE(store->release(store->leases().at(0).id, epoch));
  // Claims that the crash took back had epochs that nobody remembers.
  CHECK(claimed(*store, user("u")).epoch > epoch + 1'000'000);
  CHECK(place.open()->now() >= future);
}

TEST_CASE("a pool of ten thousand GPUs is read completely and claimed from") {
  const SqlitePlace place;
  const auto store = place.open();
  {
    SqliteConnection db(place.file(), k_patience);
    db.script(
        "INSERT INTO gpus (id, name, source, state, draining, dedicated_to, slots, sessions, host, "
        "device, url, provider_id, usd_per_hour, created_at, since, seen_at, last_error, "
        "reserved_for, operation, intent_number, intent_owner, intent_until, intent_called, "
        "intent_since, intent_tries, epoch, version) "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
        "SELECT 'gpu-' || i, 'navtalk-default-' || i, 2, 0, 0, '', 1, 0, '', 'NVIDIA L4', "
        "'http://127.0.0.1:2160', 'pod-' || i, 0.4, i, i, i, '', '', 0, 0, '', 0, 0, 0, 0, 1, 1 "
        "FROM n");
  }
  CHECK(store->view().gpus.size() == 10'000);
  CHECK(claimed(*store, user("u")).gpu.text == "gpu-1");
}
