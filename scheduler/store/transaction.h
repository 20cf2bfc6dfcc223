// What a store's database does for it: transactions, the clock, and news of changes. Two ship:
// sqlite_backend.h and postgres_backend.h. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "core/base/time.h"
#include "core/database/connection.h"

namespace navtalk {

// What a commit means when it returns: on the disk, or in the database's memory (a crash of the
// machine may take it back, in order).
enum class Durability : std::uint8_t { lasting, brief };

// An open transaction; of those that write, one at a time in the whole pool.
struct Transaction {
  DbConnection& db;
  TimePoint now{};               // the store's clock
  TimePoint wall{};              // the wall clock, for people
  std::uint64_t generation = 0;  // grows when commits may have been taken back
  bool news = false;             // set when a waiter may want to know
};

class StoreBackend {
 public:
  virtual ~StoreBackend() = default;

  // Begins, works, commits; rolls back when the work throws. The work may be called again when the
  // connection was lost: it must do nothing else than talk to the database and set its result.
  using Work = std::function<void(Transaction&)>;
  virtual void write(Durability durability, const Work& work) = 0;
  // The work sees one state of the database.
  virtual void read(const Work& work) = 0;
  virtual TimePoint now() = 0;
  // See PoolStore::wait_for_change.
  virtual std::uint64_t wait_for_news(std::uint64_t seen, Duration at_most,
                                      const std::stop_token& stop) = 0;
};

}  // namespace navtalk
