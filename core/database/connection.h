// One connection to a database, the same for SQLite and PostgreSQL: statements with parameters $1,
// $2, ... and rows read one by one. Prepared once per connection, by their text. Used by one thread
// at a time.
//
// Errors: Error{failed}, with the database's name and its message. Transactions differ: see
// SqliteTransaction; PostgreSQL's are the caller's BEGIN and COMMIT.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace navtalk {

// A parameter's value; monostate is NULL. Text is borrowed until the call returns.
using DbValue = std::variant<std::monostate, std::int64_t, double, std::string_view>;
using DbValues = std::span<const DbValue>;

// What a statement gives. Columns count from 0. Text stays valid until next().
class DbRows {
 public:
  virtual ~DbRows() = default;

  virtual bool next() = 0;
  virtual bool null(int column) = 0;
  virtual std::int64_t integer(int column) = 0;
  virtual double real(int column) = 0;
  virtual std::string_view text(int column) = 0;
};

class DbConnection {
 public:
  virtual ~DbConnection() = default;

  // The statement's effect is whole only after the last row was read. The same statement may not be
  // started again while its rows are being read.
  virtual std::unique_ptr<DbRows> query(std::string_view sql, DbValues values) = 0;
  // A statement without rows. It may be delayed until the next query or script, which then throws its
  // error.
  virtual void run(std::string_view sql, DbValues values) = 0;
  // The same for values that are listed in the call.
  std::unique_ptr<DbRows> query(std::string_view sql, std::initializer_list<DbValue> values) {
    return query(sql, DbValues(values.begin(), values.size()));
  }
  void run(std::string_view sql, std::initializer_list<DbValue> values) {
    run(sql, DbValues(values.begin(), values.size()));
  }
  // Several statements at once, without parameters and rows.
  virtual void script(const std::string& sql) = 0;
};

}  // namespace navtalk
