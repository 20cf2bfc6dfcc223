// A PostgreSQL schema as a pool's store, for gateways on several machines. Writers queue for one
// advisory lock, so that each sees what the one before it did; the server ends a writer that holds
// the lock and stays idle. Time is the server's. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/database/postgres.h"
#include "scheduler/store/migration.h"
#include "scheduler/store/postgres/postgres_listener.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

// As for SQLite: each migration in one transaction, under the pool's lock.
void migrate(PostgresConnection& db, std::span<const Migration> migrations);

class PostgresBackend : public StoreBackend {
 public:
  explicit PostgresBackend(std::string url);

  void write(Durability durability, const Work& work) override;
  void read(const Work& work) override;
  TimePoint now() override;
  std::uint64_t wait_for_change(std::uint64_t seen, Duration at_most,
                                const std::stop_token& stop) override;

 private:
  using Connection = std::unique_ptr<PostgresConnection>;

  Connection connect() const;
  Connection borrow();
  void return_connection(Connection connection);
  void drop_idle();
  // Calls `attempt` with a connection, once more with a new one when the first was lost, and again
  // a few times after conflicts.
  template <class F>
  auto with_connection(F&& attempt);
  // Did the transaction whose COMMIT got no answer have its effect?
  bool was_committed(const std::string& transaction_id) const;
  PostgresListener& listener();

  std::string url_;
  std::string channel_;
  std::mutex mutex_;  // of the next two
  std::vector<Connection> idle_;
  std::unique_ptr<PostgresListener> listener_;
};

}  // namespace navtalk
