// A connection to an SQLite file. See connection.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/database/connection.h"

namespace SQLite {
class Transaction;
}

namespace navtalk {

class SqliteTransaction;

class SqliteConnection : public DbConnection {
 public:
  struct File;  // private to sqlite.cpp

  // Opens the file, makes it where it is missing. `patience`: how long a statement waits for a lock
  // of another connection before it is Error{failed}. Error{invalid} for a file that is not SQLite.
  SqliteConnection(const std::filesystem::path& path, std::chrono::milliseconds patience);
  ~SqliteConnection() override;
  SqliteConnection(SqliteConnection&&) = delete;
  SqliteConnection& operator=(SqliteConnection&&) = delete;
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  using DbConnection::query;
  using DbConnection::run;
  std::unique_ptr<DbRows> query(std::string_view sql, DbValues values) override;
  void run(std::string_view sql, DbValues values) override;
  void script(const std::string& sql) override;

  // A commit waits until the disk has it (synchronous=FULL), or until the kernel has it (NORMAL).
  // Outside a transaction.
  void commit_to_disk(bool yes);
  // Begins a transaction. write: with the lock for writers from the start (BEGIN IMMEDIATE), so that
  // it cannot fail half-way because another connection writes.
  enum class Access : std::uint8_t { read, write };
  SqliteTransaction begin(Access access);

  // False when a statement failed by an error of the file or of its descriptors, or when a transaction
  // could not be rolled back: another connection may do better. Outside a transaction.
  bool usable() const;

  // The write-ahead log's pages after this connection's last commit. Only checkpoint() moves them into
  // the file: as many as it can without waiting. False when another connection checkpoints now.
  int wal_pages() const;
  bool checkpoint();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// An open transaction of a connection; rolled back by the destructor unless committed.
class SqliteTransaction {
 public:
  SqliteTransaction(std::unique_ptr<SQLite::Transaction> open, SqliteConnection::File& file);
  ~SqliteTransaction();
  SqliteTransaction(SqliteTransaction&&) = delete;
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  void commit();

 private:
  std::unique_ptr<SQLite::Transaction> open_;
  SqliteConnection::File& file_;
};

}  // namespace navtalk
