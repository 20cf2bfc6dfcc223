#include "core/database/sqlite.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk {

struct SqliteConnection::File {
  std::filesystem::path path;
  bool failed = false;
};

namespace {

// Errors of the file or of its descriptors, which another connection may not have.
bool is_of_file(int code) {
  switch (code) {
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_READONLY:
      return true;
    default:
      return false;
  }
}

Error translated(const SQLite::Exception& error, SqliteConnection::File& of) {
  of.failed = of.failed || is_of_file(error.getErrorCode());
  const std::string file = printable(of.path.native());
  switch (error.getErrorCode()) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:  // held while it begins to read the log; SQLite tries for ten seconds
      return {
          Code::failed,
          fmt::format("the database {} stays locked by another process; end what holds it (fuser "
                      "{} lists candidates) and try again",
                      file, file)};
    case SQLITE_NOTADB:
      return {Code::invalid, fmt::format("{} is not an SQLite database", file)};
    case SQLITE_CANTOPEN:
      return {Code::failed,
              fmt::format("cannot open the database {}: check its folder and rights: {}", file,
                          error.getErrorStr())};
    default:
      return {Code::failed, fmt::format("database {}: {}", file, error.what())};
  }
}

// "$1" is a name to SQLite and a position to PostgreSQL; "?1" is SQLite's position.
std::string with_positions(std::string_view sql) {
  std::string text(sql);
  std::replace(text.begin(), text.end(), '$', '?');
  return text;
}

void bind(SQLite::Statement& statement, DbValues values) {
  int index = 0;
  for (const DbValue& value : values) {
    ++index;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      statement.bind(index, *integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      statement.bind(index, *real);
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
      statement.bind(index, std::string(*text));
    } else {
      statement.bind(index);
    }
  }
}

struct Prepared {
  SQLite::Statement statement;
  bool in_use = false;
};

class SqliteRows : public DbRows {
 public:
  SqliteRows(Prepared& prepared, SqliteConnection::File& file) : prepared_(prepared), file_(file) {
    prepared_.in_use = true;
  }
  ~SqliteRows() override {
    prepared_.statement.tryReset();
    prepared_.in_use = false;
  }
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;

  bool next() override {
    try {
      return prepared_.statement.executeStep();
    } catch (const SQLite::Exception& error) {
      throw translated(error, file_);
    }
  }
  bool null(int column) override { return prepared_.statement.getColumn(column).isNull(); }
  std::int64_t integer(int column) override {
    return prepared_.statement.getColumn(column).getInt64();
  }
  double real(int column) override { return prepared_.statement.getColumn(column).getDouble(); }
  std::string_view text(int column) override {
    const SQLite::Column value = prepared_.statement.getColumn(column);
    const char* begin = value.getText();
    return {begin, static_cast<std::size_t>(value.getBytes())};
  }

 private:
  Prepared& prepared_;
  SqliteConnection::File& file_;
};

}  // namespace

struct SqliteConnection::State {
  State(const std::filesystem::path& path, std::chrono::milliseconds patience)
      : file{path},
        // Without SQLite's own locks, which every field of a row would take: a connection is used by
        // one thread at a time.
        database(path.native(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX,
                 static_cast<int>(patience.count())) {}

  File file;
  SQLite::Database database;
  std::map<std::string, Prepared, std::less<>> prepared{};
  std::optional<bool> to_disk{};
  int wal_pages = 0;
};

SqliteConnection::SqliteConnection(const std::filesystem::path& path,
                                   std::chrono::milliseconds patience) {
  try {
    state_ = std::make_unique<State>(path, patience);
    // Replaces SQLite's own checkpoints, which a commit would wait for.
    sqlite3_wal_hook(
        state_->database.getHandle(),
        [](void* state, sqlite3*, const char*, int pages) {
          static_cast<State*>(state)->wal_pages = pages;
          return SQLITE_OK;
        },
        state_.get());
  } catch (const SQLite::Exception& error) {
    File file{path};
    throw translated(error, file);
  }
}

SqliteConnection::~SqliteConnection() = default;

std::unique_ptr<DbRows> SqliteConnection::query(std::string_view sql, DbValues values) {
  try {
    auto found = state_->prepared.find(sql);
    if (found == state_->prepared.end()) {
      SQLite::Statement statement(state_->database, with_positions(sql));
      found = state_->prepared.emplace(std::string(sql), Prepared{std::move(statement)}).first;
    }
    NAVTALK_CHECK(!found->second.in_use);
    auto rows = std::make_unique<SqliteRows>(found->second, state_->file);
    bind(found->second.statement, values);
    return rows;
  } catch (const SQLite::Exception& error) {
    throw translated(error, state_->file);
  }
}

void SqliteConnection::run(std::string_view sql, DbValues values) {
  const auto rows = query(sql, values);
  while (rows->next()) {
  }
}

void SqliteConnection::script(const std::string& sql) {
  try {
    state_->database.exec(sql);
  } catch (const SQLite::Exception& error) {
    throw translated(error, state_->file);
  }
}

void SqliteConnection::commit_to_disk(bool yes) {
  if (state_->to_disk == yes) return;
  script(yes ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  state_->to_disk = yes;
}

SqliteTransaction SqliteConnection::begin(Access access) {
  using SQLite::TransactionBehavior;
  try {
    return {std::make_unique<SQLite::Transaction>(
                state_->database, access == Access::write ? TransactionBehavior::IMMEDIATE
                                                          : TransactionBehavior::DEFERRED),
            state_->file};
  } catch (const SQLite::Exception& error) {
    throw translated(error, state_->file);
  }
}

SqliteTransaction::SqliteTransaction(std::unique_ptr<SQLite::Transaction> open,
                                     SqliteConnection::File& file)
    : open_(std::move(open)), file_(file) {}

SqliteTransaction::~SqliteTransaction() = default;

void SqliteTransaction::commit() {
  try {
    open_->commit();
  } catch (const SQLite::Exception& error) {
    throw translated(error, file_);
  }
}

bool SqliteConnection::usable() const {
  return !state_->file.failed && sqlite3_get_autocommit(state_->database.getHandle()) != 0;
}

int SqliteConnection::wal_pages() const { return state_->wal_pages; }

bool SqliteConnection::checkpoint() {
  const int result = sqlite3_wal_checkpoint_v2(state_->database.getHandle(), nullptr,
                                               SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (result == SQLITE_BUSY || result == SQLITE_LOCKED) return false;
  if (result == SQLITE_OK) return true;
  throw Error(Code::failed,
              fmt::format("database {}: cannot move the log into the file: {}",
                          printable(state_->file.path.native()), sqlite3_errstr(result)));
}

}  // namespace navtalk
