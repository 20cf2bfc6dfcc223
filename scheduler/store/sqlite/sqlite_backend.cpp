#include "scheduler/store/sqlite/sqlite_backend.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <system_error>

#include "core/base/error.h"
#include "core/base/unique_fd.h"
#include "core/text/printable.h"
#include "scheduler/store/sqlite/boot_clock.h"

namespace navtalk {
namespace {

// Marks the file as ours ("nvtk").
constexpr std::int64_t k_application_id = 0x6e76746b;
// 16 MiB. Smaller means more waits for the disk, larger a longer log to read after a crash.
constexpr int k_checkpoint_pages = 4096;
constexpr std::size_t k_idle_connections = 8;

TimePoint wall_clock() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

std::int64_t number(DbConnection& db, std::string_view sql) {
  const auto rows = db.query(sql, {});
  return rows->next() ? rows->integer(0) : 0;
}

void check_ours(DbConnection& db, std::string_view file) {
  const bool empty = number(db, "SELECT COUNT(*) FROM sqlite_master") == 0;
  if (!empty && number(db, "PRAGMA application_id") != k_application_id) {
    throw Error(
        Code::invalid,
        fmt::format("{} is an SQLite database but not a pool store: name another file", file));
  }
}

void apply(SqliteConnection& db, const Migration& migration) {
  db.script("BEGIN IMMEDIATE");
  try {
    if (number(db, "PRAGMA user_version") < migration.version) {  // else another was quicker
      db.script(std::string(migration.sql));
      db.script(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                            k_application_id, migration.version));
    }
    db.script("COMMIT");
  } catch (const Error& error) {
    db.rollback();
    throw error.within(fmt::format("migration {}", migration.name));
  }
}

std::filesystem::path with_suffix(std::filesystem::path file, const char* suffix) {
  file += suffix;
  return file;
}

// A store has the tenants' names, the addresses of workers and what was paid: a new one is its
// owner's alone.
// SQLite gives its other files the same rights; where this does not work, it says why.
void make_private(const std::filesystem::path& file) {
  const UniqueFd made(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

const std::filesystem::path& with_folder(const std::filesystem::path& file) {
  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    throw Error(Code::failed, fmt::format("cannot make the folder of the pool store {}: {}",
                                          printable(file.native()), error.message()));
  }
  return file;
}

}  // namespace

void migrate(SqliteConnection& db, std::span<const Migration> migrations, std::string_view file) {
  check_ours(db, file);
  const int version = static_cast<int>(number(db, "PRAGMA user_version"));
  const auto missing = pending(migrations, version, file);
  if (missing.empty()) return;
  db.commit_to_disk(true);
  db.script("PRAGMA journal_mode = WAL");
  for (const Migration& migration : missing) apply(db, migration);
}

// A connection for one piece of work. One whose work failed is not used again.
class SqliteBackend::Borrowed {
 public:
  explicit Borrowed(SqliteBackend& backend) : backend_(backend) {
    {
      const std::lock_guard lock(backend.mutex_);
      if (!backend.idle_.empty()) {
        connection_ = std::move(backend.idle_.back());
        backend.idle_.pop_back();
      }
    }
    if (!connection_) connection_ = backend.connect();
  }
  ~Borrowed() {
    if (connection_) connection_->rollback();
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  SqliteConnection& operator*() { return *connection_; }
  void give_back() {
    const std::lock_guard lock(backend_.mutex_);
    if (backend_.idle_.size() < k_idle_connections) {
      backend_.idle_.push_back(std::move(connection_));
    } else {
      connection_.reset();
    }
  }

 private:
  SqliteBackend& backend_;
  std::unique_ptr<SqliteConnection> connection_;
};

SqliteBackend::SqliteBackend(std::filesystem::path file, SqlitePatience patience)
    : file_(std::move(file)), patience_(patience), turn_(with_suffix(with_folder(file_), "-turn")) {
  {
    const auto hold = turn_.take(patience_.turn);
    make_private(file_);
    auto db = connect();
    migrate(*db, sqlite_migrations(), printable(file_.native()));
    idle_.push_back(std::move(db));
  }
  start_clock();
  checkpointer_ =
      std::jthread([this](const std::stop_token& stop) { checkpoint_when_asked(stop); });
}

std::unique_ptr<SqliteConnection> SqliteBackend::connect() const {
  auto db = std::make_unique<SqliteConnection>(
      file_, std::chrono::duration_cast<std::chrono::milliseconds>(patience_.lock));
  db->script("PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY");
  return db;
}

void SqliteBackend::write(Durability durability, const Work& work) {
  Borrowed db(*this);
  bool news = false;
  {
    // Without the turn (its holder is stopped, say) SQLite's lock decides, or says who is in the
    // way.
    const auto hold = turn_.take(patience_.turn);
    (*db).commit_to_disk(durability == Durability::lasting);
    (*db).run("BEGIN IMMEDIATE", {});
    Transaction transaction{*db, now(), wall_clock(), generation_};
    work(transaction);
    if (durability == Durability::lasting) remember_time(transaction);
    (*db).run("COMMIT", {});
    news = transaction.news;
  }
  if (news) turn_.announce_change();
  ask_for_checkpoint((*db).wal_pages());
  db.give_back();
}

void SqliteBackend::read(const Work& work) {
  Borrowed db(*this);
  (*db).run("BEGIN", {});
  Transaction transaction{*db, now(), wall_clock(), generation_};
  work(transaction);
  (*db).run("COMMIT", {});
  db.give_back();
}

TimePoint SqliteBackend::now() { return TimePoint(wall_minus_boot_ + since_boot()); }

std::uint64_t SqliteBackend::wait_for_news(std::uint64_t seen, Duration at_most,
                                           const std::stop_token& stop) {
  return turn_.wait_for_change(static_cast<std::uint32_t>(seen), at_most, stop);
}

// The first use since boot reads the wall clock, but never goes behind a time already shown.
void SqliteBackend::start_clock() {
  const std::string boot = boot_id();
  Borrowed db(*this);
  const auto known = [&] {
    const auto rows =
        (*db).query("SELECT boot_id, wall_minus_boot, generation, last FROM clock", {});
    if (!rows->next()) throw Error(Code::failed, "the pool store has lost its clock");
    wall_minus_boot_ = Duration(rows->integer(1));
    generation_ = static_cast<std::uint64_t>(rows->integer(2));
    return std::pair(std::string(rows->text(0)), TimePoint(Duration(rows->integer(3))));
  };
  if (known().first != boot) {
    const auto hold = turn_.take(patience_.turn);
    (*db).commit_to_disk(true);
    (*db).run("BEGIN IMMEDIATE", {});
    const auto [before, last] = known();
    if (before != boot) {
      wall_minus_boot_ = std::max(wall_clock(), last).time_since_epoch() - since_boot();
      if (!before.empty()) ++generation_;
      (*db).run("UPDATE clock SET boot_id = $1, wall_minus_boot = $2, generation = $3",
                {boot, wall_minus_boot_.count(), static_cast<std::int64_t>(generation_)});
    }
    (*db).run("COMMIT", {});
  }
  db.give_back();
}

void SqliteBackend::remember_time(Transaction& transaction) {
  transaction.db.run("UPDATE clock SET last = $1 WHERE last < $1",
                     {transaction.now.time_since_epoch().count()});
}

void SqliteBackend::ask_for_checkpoint(int wal_pages) {
  if (wal_pages < k_checkpoint_pages) return;
  {
    const std::lock_guard lock(mutex_);
    checkpoint_wanted_ = true;
  }
  asked_.notify_one();
}

// First beside the writers, which takes long; then what they added meanwhile, with all writers
// waiting, so that the log is empty for a moment and starts anew instead of growing for ever.
void SqliteBackend::checkpoint_when_asked(const std::stop_token& stop) {
  const auto checkpoint = [this] {
    Borrowed db(*this);
    if (!(*db).checkpoint()) return;
    if (const auto hold = turn_.take(patience_.turn)) (*db).checkpoint();
    db.give_back();
  };
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!asked_.wait(lock, stop, [this] { return checkpoint_wanted_; })) return;
      checkpoint_wanted_ = false;
    }
    try {
      turn_.unless_busy(checkpoint);
    } catch (const Error& error) {
      spdlog::warn("pool store: {}", error.message());
    }
  }
}

}  // namespace navtalk
