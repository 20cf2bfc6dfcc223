// SqlPoolStore: the results of probes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "scheduler/store/columns.h"
#include "scheduler/store/gpu_table.h"
#include "scheduler/store/run_work.h"
#include "scheduler/store/sql_pool_store.h"

namespace navtalk {
namespace {

using enum Durability;

constexpr std::size_t k_batch = 100;  // rows
using Batch = std::vector<const GoodAnswer*>;

// Of as many answers as the statements have places: the last one fills those that are left.
void run_in_batches(const Batch& answers, const std::function<void(const Batch&)>& run) {
  for (std::size_t begin = 0; begin < answers.size(); begin += k_batch) {
    const std::size_t end = std::min(begin + k_batch, answers.size());
    Batch batch(answers.begin() + static_cast<std::ptrdiff_t>(begin),
                answers.begin() + static_cast<std::ptrdiff_t>(end));
    batch.resize(k_batch, batch.back());
    run(batch);
  }
}

std::string seen_columns() {
  return fmt::format(
      "seen_at = CASE WHEN state = {} THEN seen_at ELSE $1 END, misses = 0, missed_since = 0",
      static_cast<int>(State::starting));
}

// An answer that is late is dropped. Where the stored time is in the future, the clock was set back.
constexpr std::string_view k_in_order = "(seen_at < $1 OR seen_at > $2)";

// $1: when; $2: the store's time; then the ids.
const std::string& seen_sql() {
  static const std::string sql = [] {
    std::string places = "$3";
    for (std::size_t i = 1; i < k_batch; ++i) places += fmt::format(", ${}", i + 3);
    return fmt::format("UPDATE gpus SET {} WHERE {} AND id IN ({})", seen_columns(), k_in_order,
                       places);
  }();
  return sql;
}

// $1: when; $2: the store's time; then an id and its reading, in five places each. The types of the first row are those of all.
const std::string& seen_and_read_sql() {
  static const std::string sql = [] {
    std::string rows =
        "(CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($7 AS "
        "BIGINT))";
    for (std::size_t i = 1; i < k_batch; ++i) {
      const std::size_t at = 3 + 5 * i;
      rows += fmt::format(", (${}, ${}, ${}, ${}, ${})", at, at + 1, at + 2, at + 3, at + 4);
    }
    return fmt::format(
        "WITH said(gpu, used, total, load, celsius) AS (VALUES {}) UPDATE gpus SET {}, "
        "memory_used = used, memory_total = total, load_percent = load, temperature_c = celsius, "
        "read_at = $1 FROM said WHERE gpus.id = said.gpu AND {}",
        rows, seen_columns(), k_in_order);
  }();
  return sql;
}

}  // namespace

// One statement for so many rows, always of the same text, so that it is prepared once. A transaction
// holds up every claim: each of these is one of its own.
void SqlPoolStore::seen(const std::vector<GoodAnswer>& answers, TimePoint at) {
  std::vector<const GoodAnswer*> read, bare;
  for (const GoodAnswer& answer : answers) (answer.reading ? read : bare).push_back(&answer);
  run_in_batches(bare, [&](const Batch& batch) {
    std::vector<DbValue> values = {column::of(at), {}};
    for (const GoodAnswer* answer : batch) values.push_back(column::value(answer->gpu));
    in_write(*backend_, relaxed, [&](Transaction& t) {
      values[1] = column::of(t.now);
      t.db.run(seen_sql(), DbValues(values));
    });
  });
  run_in_batches(read, [&](const Batch& batch) {
    std::vector<DbValue> values = {column::of(at), {}};
    for (const GoodAnswer* answer : batch) {
      const GpuReading& reading = *answer->reading;
      values.insert(values.end(),
                    {column::value(answer->gpu), column::of(reading.memory_used),
                     column::of(reading.memory_total), column::of(reading.load_percent),
                     column::of(reading.temperature_c)});
    }
    in_write(*backend_, relaxed, [&](Transaction& t) {
      values[1] = column::of(t.now);
      t.db.run(seen_and_read_sql(), DbValues(values));
    });
  });
}

std::vector<Gpu> SqlPoolStore::missed(const std::vector<Miss>& misses, TimePoint at) {
  constexpr std::size_t k_rows = 50;
  std::vector<Gpu> rows;
  for (std::size_t begin = 0; begin < misses.size(); begin += k_rows) {
    const std::size_t end = std::min(begin + k_rows, misses.size());
    const auto some = in_write(*backend_, relaxed, [&](Transaction& t) {
      std::vector<Gpu> after;
      for (std::size_t i = begin; i < end; ++i) {
        t.db.run(
            "UPDATE gpus SET misses = misses + 1, "
            "missed_since = CASE WHEN misses = 0 THEN $2 ELSE missed_since END, "
            "last_error = CASE WHEN state < 2 THEN last_error ELSE $3 END WHERE id = $1",
            {misses[i].gpu.text, column::of(at), misses[i].why});
        if (auto gpu = find_gpu(t, misses[i].gpu)) after.push_back(std::move(*gpu));
      }
      return after;
    });
    rows.insert(rows.end(), some.begin(), some.end());
  }
  return rows;
}

}  // namespace navtalk
