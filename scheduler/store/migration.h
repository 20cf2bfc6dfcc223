// Numbered changes of the tables. Number N brings a database of version N-1 to N, in a transaction
// of its own together with the number, so that an interrupted one leaves the old version. The .sql
// files of migrations/ are embedded into the binary.
#pragma once

#include <span>
#include <string_view>

namespace navtalk {

struct Migration {
  int version = 0;
  std::string_view name;  // "0001-pool"
  std::string_view sql;
};

// In order, without gaps.
std::span<const Migration> sqlite_migrations();
std::span<const Migration> postgres_migrations();

// The migrations that a database of `version` still needs. Error{invalid} when it is newer than the
// newest, naming the database.
std::span<const Migration> pending(std::span<const Migration> all, int version,
                                   std::string_view database);

}  // namespace navtalk
