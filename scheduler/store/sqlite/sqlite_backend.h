// One SQLite file as a pool's store: write-ahead log, writers in a fair order (write_lock.h), and
// checkpoints by a thread of its own. Beside FILE stand FILE-wal, FILE-shm and FILE-turn, which holds
// the write lock.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/database/sqlite.h"
#include "core/log/error_throttle.h"
#include "scheduler/store/migration.h"
#include "scheduler/store/sqlite/write_lock.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

struct SqliteTimeouts {
  Duration queue = std::chrono::seconds(2);  // for the write lock; then SQLite's own lock decides
  Duration lock = std::chrono::seconds(3);   // for SQLite's lock
};

// Brings the file to the newest version, each migration in one transaction. Error{invalid} for one
// of a newer version or one that is not a pool store; neither is changed.
void migrate(SqliteConnection& db, std::span<const Migration> migrations, std::string_view file);

class SqliteBackend : public StoreBackend {
 public:
  explicit SqliteBackend(std::filesystem::path file, SqliteTimeouts timeouts = {});

  void write(Durability durability, const Work& work) override;
  void read(const Work& work) override;
  TimePoint now() override;
  std::uint64_t wait_for_change(std::uint64_t seen, Duration at_most,
                                const std::stop_token& stop) override;

 private:
  class Borrowed;

  std::unique_ptr<SqliteConnection> connect() const;
  std::unique_ptr<SqliteConnection> idle_connection();  // under mutex_; nullptr: there is none
  // An idle one, a new one, or the next that is given back where no new one can be opened.
  std::unique_ptr<SqliteConnection> borrow();
  // Replaces one that failed, if another one can be opened.
  void return_connection(std::unique_ptr<SqliteConnection> connection) noexcept;
  void start_clock();
  void remember_time(Transaction& transaction);
  void ask_for_checkpoint(int wal_pages);
  void checkpoint_when_asked(const std::stop_token& stop);

  std::filesystem::path file_;
  SqliteTimeouts timeouts_;
  WriteLock write_lock_;
  std::mutex mutex_;  // of the next three
  std::vector<std::unique_ptr<SqliteConnection>> idle_;
  int lent_ = 0;  // connections
  bool checkpoint_wanted_ = false;
  std::condition_variable_any asked_;
  std::condition_variable given_back_;
  ErrorThrottleLog replacements_{"the pool store's connections"};
  Duration wall_minus_boot_{};  // see the table `clock`
  std::uint64_t generation_ = 0;
  std::jthread checkpointer_;  // last: stops first
};

}  // namespace navtalk
