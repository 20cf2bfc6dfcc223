// What a store needs of its database: transactions, the clock, and notification of changes. Two ship:
// sqlite_backend.h and postgres_backend.h. Thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "core/base/time.h"
#include "core/database/connection.h"

namespace navtalk {

// What a commit means when it returns. durable: it is on disk. relaxed: it is in the database's
// memory, and a crash of the machine may undo it together with all later ones.
enum class Durability : std::uint8_t { durable, relaxed };

// An open transaction; of those that write, one at a time in the whole pool.
struct Transaction {
  DbConnection& db;
  TimePoint now{};               // the store's clock
  TimePoint wall{};              // the wall clock, for people
  std::uint64_t generation = 0;  // grows when commits may have been undone, see next_generation()
  bool notify = false;           // set by changes that matter to waiters
};

// At least the time in seconds, so that generations of a store which was lost, or of an earlier copy of
// this one, are lower; and above the one before, whatever the clock shows.
inline std::uint64_t next_generation(std::uint64_t before, TimePoint now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  return std::max(before + 1, static_cast<std::uint64_t>(seconds));
}

// A fencing token above `before`, and above those that were given before this generation: a crash of the
// machine may have undone the claims that gave them, or the store that knew them is lost. As a
// generation is a time, it stays below 2^53, which every reader of JSON knows exactly, for two centuries.
inline std::uint64_t epoch_above(std::uint64_t before, std::uint64_t generation) {
  constexpr int k_claims_bits = 20;  // in a second, the least that generations lie apart
  return std::max(before, generation << k_claims_bits) + 1;
}

class StoreBackend {
 public:
  virtual ~StoreBackend() = default;

  // See PoolStore::open(). One backend may serve several stores.
  static std::shared_ptr<StoreBackend> open(const std::string& url);

  // Begins, works, commits; rolls back when the work throws. The work may be called again when the
  // connection was lost: it must do nothing else than talk to the database and set its result.
  using Work = std::function<void(Transaction&)>;
  virtual void write(Durability durability, const Work& work) = 0;
  // The work sees one state of the database.
  virtual void read(const Work& work) = 0;
  virtual TimePoint now() = 0;
  // See PoolStore::wait_for_change.
  virtual std::uint64_t wait_for_change(std::uint64_t seen, Duration at_most,
                                        const std::stop_token& stop) = 0;
};

}  // namespace navtalk
