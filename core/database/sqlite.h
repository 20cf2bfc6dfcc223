// A connection to an SQLite file. See connection.h.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

#include "core/database/connection.h"

namespace navtalk {

class SqliteConnection : public DbConnection {
 public:
  // Opens the file, makes it where it is missing. `patience`: how long a statement waits for a lock
  // of another connection before it is Error{failed}. Error{invalid} for a file that is not SQLite.
  SqliteConnection(const std::filesystem::path& path, std::chrono::milliseconds patience);
  ~SqliteConnection() override;
  SqliteConnection(SqliteConnection&&) = delete;
  SqliteConnection& operator=(SqliteConnection&&) = delete;
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  std::unique_ptr<DbRows> query(std::string_view sql, DbValues values) override;
  void run(std::string_view sql, DbValues values) override;
  void script(const std::string& sql) override;

  // A commit waits until the disk has it (synchronous=FULL), or until the kernel has it (NORMAL).
  // Outside a transaction.
  void commit_to_disk(bool yes);
  // Undoes an open transaction; nothing where none is open.
  void rollback() noexcept;

  // The write-ahead log's pages after this connection's last commit. Nothing is checkpointed but by
  // checkpoint(): moves what it can from the log into the file, without waiting for anybody. False
  // when another connection does so at this moment.
  int wal_pages() const;
  bool checkpoint();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace navtalk
