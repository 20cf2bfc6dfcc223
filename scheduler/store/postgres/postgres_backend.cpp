#include "scheduler/store/postgres/postgres_backend.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/base/error.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

constexpr std::size_t k_idle_connections = 8;
// The pool's lock: this class of advisory locks, and the schema.
#define NAVTALK_POOL_LOCK "SELECT pg_advisory_xact_lock(1853257835, hashtext(current_schema()))"
#define NAVTALK_MICROSECONDS "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// Waits are bounded, and so is the time for which a stopped writer blocks the others. Statistics lag
// behind tables that change this often, so plans do not depend on them: indexes are used.
constexpr const char* k_session =
    "SET lock_timeout = '5s'; SET statement_timeout = '15s'; "
    "SET idle_in_transaction_session_timeout = '5s'; SET client_min_messages = warning; "
    "SET enable_seqscan = off; SET jit = off; SET max_parallel_workers_per_gather = 0; "
    "SET synchronous_commit = off";
// What every writer begins with. The tables must be there.
constexpr const char* k_prepared =
    "PREPARE pool_lock AS " NAVTALK_POOL_LOCK "; PREPARE pool_begin AS SELECT " NAVTALK_MICROSECONDS
    ", pg_current_xact_id(), (SELECT number FROM generation), (SELECT COUNT(*) FROM uncrashed)";

std::int64_t number(PostgresConnection& db, const std::string& sql) {
  const auto rows = db.batch(sql);
  return rows->next() ? rows->integer(0) : 0;
}

int version_of(PostgresConnection& db) {
  // Not to_regclass(): it may answer from before the lock.
  const bool there = number(db,
                            "SELECT COUNT(*) FROM pg_catalog.pg_tables WHERE schemaname = "
                            "current_schema() AND tablename = 'pool_version'") > 0;
  return there ? static_cast<int>(number(db, "SELECT version FROM pool_version")) : 0;
}

void apply(PostgresConnection& db, const Migration& migration) {
  try {
    db.script("BEGIN; " NAVTALK_POOL_LOCK);
    if (version_of(db) < migration.version) {  // else another process was quicker
      db.script(std::string(migration.sql));
      db.script(
          fmt::format("CREATE TABLE IF NOT EXISTS pool_version (version BIGINT NOT NULL); "
                      "DELETE FROM pool_version; INSERT INTO pool_version VALUES ({})",
                      migration.version));
    }
    db.script("COMMIT");
  } catch (const Error& error) {
    throw error.within(fmt::format("migration {}", migration.name));
  }
}

struct Begun {
  TimePoint now;
  std::string transaction_id;
  std::uint64_t generation = 0;
};

// All that a writer needs to begin, in one round trip.
Begun begin(PostgresConnection& db, Durability durability) {
  const auto rows = db.batch(
      durability == Durability::durable
          ? "BEGIN; SET LOCAL synchronous_commit TO on; EXECUTE pool_lock; EXECUTE pool_begin"
          : "BEGIN; EXECUTE pool_lock; EXECUTE pool_begin");
  if (!rows->next()) throw Error(Code::failed, "PostgreSQL did not begin a transaction");
  Begun begun{.now = column::time(*rows, 0),
              .transaction_id = column::text(*rows, 1),
              .generation = column::number<std::uint64_t>(*rows, 2)};
  if (rows->integer(3) == 0) {
    begun.generation = next_generation(begun.generation, begun.now);
    db.script(
        fmt::format("SET LOCAL synchronous_commit TO on; UPDATE generation SET number = {}; "
                    "INSERT INTO uncrashed VALUES (1)",
                    begun.generation));
  }
  return begun;
}

}  // namespace

void migrate(PostgresConnection& db, std::span<const Migration> migrations) {
  for (const Migration& migration : pending(migrations, version_of(db), "in PostgreSQL")) {
    apply(db, migration);
  }
}

PostgresBackend::PostgresBackend(std::string url) : url_(std::move(url)) {
  PostgresConnection db(url_);
  db.script(k_session);
  const auto rows = db.batch(
      "SELECT COUNT(current_schema()), 'navtalk_' || (hashtext(current_schema())::bigint & "
      "4294967295)");
  if (!rows->next() || rows->integer(0) == 0) {
    throw Error(Code::invalid, "the pool store's search_path names no schema that exists");
  }
  channel_ = rows->text(1);
  migrate(db, postgres_migrations());
}

PostgresBackend::Connection PostgresBackend::connect() const {
  auto connection = std::make_unique<PostgresConnection>(url_);
  connection->script(k_session);
  connection->script(k_prepared);
  return connection;
}

PostgresBackend::Connection PostgresBackend::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return connect();
}

void PostgresBackend::return_connection(Connection connection) {
  if (connection->trouble() == PostgresConnection::Trouble::lost) return drop_idle();
  const std::lock_guard lock(mutex_);
  if (idle_.size() < k_idle_connections) idle_.push_back(std::move(connection));
}

void PostgresBackend::drop_idle() {
  std::vector<Connection> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(idle_);
}

// A connection on which something failed is closed, which also rolls back.
template <class F>
auto PostgresBackend::with_connection(F&& attempt) {
  constexpr int k_conflicts = 5;
  bool reconnected = false;
  for (int conflicts = 0;;) {
    auto connection = borrow();
    try {
      auto result = attempt(*connection);
      return_connection(std::move(connection));
      return result;
    } catch (const Error&) {
      using Trouble = PostgresConnection::Trouble;
      const Trouble trouble = connection->trouble();
      const bool reconnect = trouble == Trouble::lost && !std::exchange(reconnected, true);
      if (reconnect) {
        drop_idle();  // most likely lost as well
      } else if (trouble != Trouble::conflict || ++conflicts > k_conflicts) {
        throw;
      }
    }
  }
}

void PostgresBackend::write(Durability durability, const Work& work) {
  // The work is repeated after a lost connection, but never when it may have been committed.
  std::optional<Error> unknown;
  with_connection([&](PostgresConnection& db) {
    const Begun begun = begin(db, durability);
    Transaction transaction{db, begun.now, begun.now, begun.generation};
    work(transaction);
    try {
      db.script(transaction.notify ? fmt::format("NOTIFY {}; COMMIT", channel_) : "COMMIT");
    } catch (const Error& error) {
      if (db.trouble() != PostgresConnection::Trouble::lost) throw;
      try {
        if (was_committed(begun.transaction_id)) return true;
      } catch (const Error& second) {
        unknown.emplace(Code::failed,
                        fmt::format("{}; whether the change was made is not known: {}",
                                    error.message(), second.message()));
        return true;
      }
      throw;
    }
    return true;
  });
  if (unknown) throw *unknown;
}

// The lost transaction holds the pool's lock until it has ended either way.
bool PostgresBackend::was_committed(const std::string& transaction_id) const {
  const auto db = connect();
  db->script("BEGIN; " NAVTALK_POOL_LOCK);
  const auto rows = db->query("SELECT pg_xact_status($1::text::xid8)", {transaction_id});
  return rows->next() && rows->text(0) == "committed";
}

void PostgresBackend::read(const Work& work) {
  with_connection([&](PostgresConnection& db) {
    const auto rows =
        db.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT " NAVTALK_MICROSECONDS);
    rows->next();
    const TimePoint now = column::time(*rows, 0);
    Transaction transaction{db, now, now};
    work(transaction);
    db.script("COMMIT");
    return true;
  });
}

TimePoint PostgresBackend::now() {
  return with_connection([](PostgresConnection& db) {
    return TimePoint(Duration(number(db, "SELECT " NAVTALK_MICROSECONDS)));
  });
}

std::uint64_t PostgresBackend::wait_for_change(std::uint64_t seen, Duration at_most,
                                               const std::stop_token& stop) {
  return listener().wait(seen, at_most, stop);
}

// Created when first needed: most processes never wait.
PostgresListener& PostgresBackend::listener() {
  const std::lock_guard lock(mutex_);
  if (!listener_) listener_ = std::make_unique<PostgresListener>(url_, channel_);
  return *listener_;
}

}  // namespace navtalk
