// A connection to PostgreSQL 13 or newer. See connection.h. It never reconnects by itself: what was
// begun on it is gone with it.
#pragma once

#include "core/database/connection.h"

namespace navtalk {

class PostgresConnection : public DbConnection {
 public:
  // Why the last call threw.
  enum class Trouble {
    none,
    lost,      // the connection; whether the last statement had its effect is not known
    conflict,  // with another transaction, which won: the same again may succeed
    other,
  };

  // Connects; a server that is not there is noticed within seconds. Error{failed}, which never
  // shows the URL's password. Error{invalid} for too old a server.
  explicit PostgresConnection(const std::string& url);
  ~PostgresConnection() override;
  PostgresConnection(PostgresConnection&&) = delete;
  PostgresConnection& operator=(PostgresConnection&&) = delete;
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  // Text that PostgreSQL cannot store (zero bytes, not UTF-8) arrives in its printable form.
  using DbConnection::query;
  using DbConnection::run;
  std::unique_ptr<DbRows> query(std::string_view sql, DbValues values) override;
  // Kept for the next message to the server: a round trip costs more than the statement.
  void run(std::string_view sql, DbValues values) override;
  void script(const std::string& sql) override;
  // A script, after what run() kept, in one message to the server and back; the last statement's
  // rows.
  std::unique_ptr<DbRows> batch(const std::string& sql);

  Trouble trouble() const;
  // To poll() for what the server sends by itself.
  int socket() const;
  // Reads that; how many notifications it held.
  int take_notifications();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace navtalk
