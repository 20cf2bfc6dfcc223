#include "scheduler/store/sqlite/sqlite_backend.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/base/error.h"
#include "core/base/unique_fd.h"
#include "core/log/log.h"
#include "core/process/boot.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

// Marks the file as ours ("nvtk").
constexpr std::int64_t k_application_id = 0x6e76746b;
// 16 MiB. Smaller means more waits for the disk, larger a longer log to read after a crash.
constexpr int k_checkpoint_pages = 4096;
// Opened at the start, because later there may be no descriptor for them; and kept.
constexpr std::size_t k_first_connections = 4, k_idle_connections = 8;

TimePoint wall_clock() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

std::int64_t number(DbConnection& db, std::string_view sql) {
  const auto rows = db.query(sql, {});
  return rows->next() ? rows->integer(0) : 0;
}

std::string required_boot_id() {
  if (auto id = boot_id()) return *id;
  throw Error(Code::failed, "cannot read the boot id from /proc: is /proc mounted?");
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
  try {
    auto transaction = db.begin(SqliteConnection::Access::write);
    if (number(db, "PRAGMA user_version") <
        migration.version) {  // else another process was quicker
      db.script(std::string(migration.sql));
      db.script(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                            k_application_id, migration.version));
    }
    transaction.commit();
  } catch (const Error& error) {
    throw error.within(fmt::format("migration {}", migration.name));
  }
}

std::filesystem::path with_suffix(std::filesystem::path file, const char* suffix) {
  file += suffix;
  return file;
}

// A store holds tenants' names, addresses of workers and costs: only its owner may read a new one.
// SQLite gives its other files the same mode; where this fails, opening it says why.
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

// A connection for one piece of work. It is kept when the work fails: what was begun is rolled back.
class SqliteBackend::Borrowed {
 public:
  explicit Borrowed(SqliteBackend& backend) : backend_(backend), connection_(backend.borrow()) {}
  ~Borrowed() { backend_.return_connection(std::move(connection_)); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  SqliteConnection& operator*() { return *connection_; }

 private:
  SqliteBackend& backend_;
  std::unique_ptr<SqliteConnection> connection_;
};

SqliteBackend::SqliteBackend(std::filesystem::path file, SqliteTimeouts timeouts)
    : file_(std::move(file)),
      timeouts_(timeouts),
      write_lock_(with_suffix(with_folder(file_), "-turn")) {
  {
    const auto hold = write_lock_.take(timeouts_.queue);
    make_private(file_);
    auto db = connect();
    migrate(*db, sqlite_migrations(), printable(file_.native()));
    idle_.push_back(std::move(db));
    while (idle_.size() < k_first_connections) idle_.push_back(connect());
  }
  start_clock();
  checkpointer_ =
      std::jthread([this](const std::stop_token& stop) { checkpoint_when_asked(stop); });
}

std::unique_ptr<SqliteConnection> SqliteBackend::connect() const {
  auto db = std::make_unique<SqliteConnection>(
      file_, std::chrono::duration_cast<std::chrono::milliseconds>(timeouts_.lock));
  db->script("PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY");
  number(*db, "SELECT COUNT(*) FROM sqlite_master");  // opens the log as well
  return db;
}

std::unique_ptr<SqliteConnection> SqliteBackend::idle_connection() {
  if (idle_.empty()) return nullptr;
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  ++lent_;
  return connection;
}

std::unique_ptr<SqliteConnection> SqliteBackend::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (auto connection = idle_connection()) return connection;
  }
  try {
    auto connection = connect();
    const std::lock_guard lock(mutex_);
    ++lent_;
    return connection;
  } catch (const Error&) {
    // Without a descriptor for one more, one of those that are lent has to do.
    std::unique_lock lock(mutex_);
    given_back_.wait_for(lock, timeouts_.lock, [this] { return !idle_.empty() || lent_ == 0; });
    if (auto connection = idle_connection()) return connection;
    throw;
  }
}

// Runs in destructors.
void SqliteBackend::return_connection(std::unique_ptr<SqliteConnection> connection) noexcept {
  if (!connection->usable()) {
    try {
      connection = connect();
      replacements_.well("replacing one");
    } catch (const Error& error) {
      replacements_.failed("replacing one", error.message());
    }
  }
  {
    const std::lock_guard lock(mutex_);
    --lent_;
    if (idle_.size() < k_idle_connections) idle_.push_back(std::move(connection));
  }
  given_back_.notify_all();
}

void SqliteBackend::write(Durability durability, const Work& work) {
  Borrowed db(*this);
  bool notify = false;
  {
    // Without the write lock (its holder is stopped, say) SQLite's own lock decides, or its error
    // names the other process.
    const auto hold = write_lock_.take(timeouts_.queue);
    (*db).commit_to_disk(durability == Durability::durable);
    auto open = (*db).begin(SqliteConnection::Access::write);
    Transaction transaction{*db, now(), wall_clock(), generation_};
    work(transaction);
    if (durability == Durability::durable) remember_time(transaction);
    open.commit();
    notify = transaction.notify;
  }
  if (notify) write_lock_.announce_change();
  ask_for_checkpoint((*db).wal_pages());
}

void SqliteBackend::read(const Work& work) {
  Borrowed db(*this);
  auto open = (*db).begin(SqliteConnection::Access::read);
  Transaction transaction{*db, now(), wall_clock(), generation_};
  work(transaction);
  open.commit();
}

TimePoint SqliteBackend::now() { return TimePoint(wall_minus_boot_ + since_boot()); }

std::uint64_t SqliteBackend::wait_for_change(std::uint64_t seen, Duration at_most,
                                             const std::stop_token& stop) {
  return write_lock_.wait_for_change(static_cast<std::uint32_t>(seen), at_most, stop);
}

// The first use since boot reads the wall clock, but never goes behind a time already shown.
void SqliteBackend::start_clock() {
  const std::string boot = required_boot_id();
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
    const auto hold = write_lock_.take(timeouts_.queue);
    (*db).commit_to_disk(true);
    auto open = (*db).begin(SqliteConnection::Access::write);
    const auto [before, last] = known();
    if (before != boot) {
      const TimePoint time = std::max(wall_clock(), last);
      wall_minus_boot_ = time.time_since_epoch() - since_boot();
      if (!before.empty()) generation_ = next_generation(generation_, time);
      (*db).run("UPDATE clock SET boot_id = $1, wall_minus_boot = $2, generation = $3",
                {boot, wall_minus_boot_.count(), static_cast<std::int64_t>(generation_)});
    }
    open.commit();
  }
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

// First beside the writers, which takes long. Then with all writers waiting, for what they added
// meanwhile: the log is then empty and restarts instead of growing forever.
void SqliteBackend::checkpoint_when_asked(const std::stop_token& stop) {
  const auto checkpoint = [this] {
    Borrowed db(*this);
    if (!(*db).checkpoint()) return;
    if (const auto hold = write_lock_.take(timeouts_.queue)) (*db).checkpoint();
  };
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!asked_.wait(lock, stop, [this] { return checkpoint_wanted_; })) return;
      checkpoint_wanted_ = false;
    }
    try {
      write_lock_.unless_busy(checkpoint);
    } catch (const Error& error) {
      log::warn("the pool store's checkpoint failed", {{"error", error.message()}});
    }
  }
}

}  // namespace navtalk
