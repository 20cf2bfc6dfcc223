#include "scheduler/store/gpu_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include "core/base/check.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/gpu_columns.h"

namespace navtalk {
namespace {

// "SELECT id, name, ... FROM gpus" and the rest of the statement.
std::string select_gpus(std::string_view rest) {
  return fmt::format("SELECT {} FROM gpus{}", gpu_column_list(), rest);
}

std::vector<Gpu> read_gpus(DbRows& rows) {
  std::vector<Gpu> gpus;
  while (rows.next()) gpus.push_back(read_gpu(rows));
  return gpus;
}

// A worker has seen the epochs of its row, and those of an earlier row of it, which was removed.
std::uint64_t next_epoch(Transaction& transaction, const Gpu& gpu) {
  const auto rows = transaction.db.query("SELECT removed FROM epochs", {});
  NAVTALK_CHECK(rows->next());
  const auto removed = column::number<std::uint64_t>(*rows, 0);
  return epoch_above(std::max(gpu.epoch, removed), transaction.generation);
}

bool paid(const Gpu& gpu) {
  return gpu.source == Source::cloud && !gpu.provider_id.empty() && gpu.usd_per_hour > 0 &&
         gpu.state != State::paused;
}

}  // namespace

std::vector<Gpu> all_gpus(Transaction& transaction) {
  static const std::string k_sql = select_gpus("");
  auto gpus = read_gpus(*transaction.db.query(k_sql, {}));
  const auto older = [](const Gpu& a, const Gpu& b) {
    return std::tie(a.created_at, a.id) < std::tie(b.created_at, b.id);
  };
  if (std::is_sorted(gpus.begin(), gpus.end(), older)) return gpus;
  // By number, because a row is large.
  std::vector<std::size_t> order(gpus.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return older(gpus[a], gpus[b]); });
  std::vector<Gpu> sorted;
  sorted.reserve(gpus.size());
  for (const std::size_t i : order) sorted.push_back(std::move(gpus[i]));
  return sorted;
}

std::optional<Gpu> find_gpu(Transaction& transaction, const GpuId& id) {
  static const std::string k_sql = select_gpus(" WHERE id = $1");
  const auto rows = transaction.db.query(k_sql, {id.text});
  return rows->next() ? std::optional(read_gpu(*rows)) : std::nullopt;
}

void insert_gpu(Transaction& transaction, const Gpu& gpu) {
  static const std::string k_sql = [] {
    std::string places = "$1";
    for (std::size_t i = 2; i <= gpu_columns().size(); ++i) places += fmt::format(", ${}", i);
    return fmt::format("INSERT INTO gpus ({}) VALUES ({})", gpu_column_list(), places);
  }();
  std::vector<DbValue> values;
  for (const GpuColumn& column : gpu_columns()) values.push_back(column.bind(gpu));
  transaction.db.run(k_sql, DbValues(values));
}

void update_gpu(Transaction& transaction, const Gpu& gpu) {
  static const std::string k_sql = [] {
    std::string set;
    int number = 1;
    for (const GpuColumn& column : gpu_columns()) {
      if (column.updated)
        set += fmt::format("{}{} = ${}", set.empty() ? "" : ", ", column.name, ++number);
    }
    return fmt::format("UPDATE gpus SET {} WHERE id = $1", set);
  }();
  std::vector<DbValue> values = {gpu.id.text};
  for (const GpuColumn& column : gpu_columns()) {
    if (column.updated) values.push_back(column.bind(gpu));
  }
  transaction.db.run(k_sql, DbValues(values));
}

void delete_gpu(Transaction& transaction, const GpuId& id) {
  // Its worker may come back as another row.
  transaction.db.run(
      "UPDATE epochs SET removed = (SELECT epoch FROM gpus WHERE id = $1) "
      "WHERE removed < (SELECT epoch FROM gpus WHERE id = $1)",
      {id.text});
  transaction.db.run("DELETE FROM gpus WHERE id = $1", {id.text});
}

// The conditions repeat the partial index gpus_with_room word for word, so that it is used.
#define NAVTALK_WITH_ROOM(tenant) \
  "dedicated_to = " tenant " AND state < 2 AND draining = 0 AND sessions < slots "
// A silent one gets no session.
#define NAVTALK_CLAIMABLE(tenant) NAVTALK_WITH_ROOM(tenant) "AND misses < 3 "
static_assert(k_silent_misses == 3);

namespace {

// The first `limit` of each kind, in the order of preference.
std::vector<Gpu> best_gpus(Transaction& transaction, const Claimant& claimant, std::size_t limit) {
  static const std::string k_sql = [] {
    const auto best_of = [](const char* condition) {
      return fmt::format("SELECT * FROM ({}) AS best_of",
                         select_gpus(fmt::format(
                             " WHERE {} AND (source <> 0 OR host = '' OR $2 = '' OR host = $2) "
                             "ORDER BY source, sessions DESC, created_at, id LIMIT $3",
                             condition)));
    };
    return best_of(NAVTALK_CLAIMABLE("$1")) + " UNION ALL " +
           best_of(NAVTALK_CLAIMABLE("'' AND $1 <> ''"));
  }();
  return read_gpus(*transaction.db.query(
      k_sql, {claimant.tenant.text, claimant.host, static_cast<std::int64_t>(limit)}));
}

bool among(const std::vector<GpuId>& ids, const Gpu& gpu) {
  return std::ranges::find(ids, gpu.id) != ids.end();
}

bool is_good(const Gpu& gpu, const Claimant& claimant) {
  return gpu.misses == 0 && !among(claimant.avoid, gpu);
}

}  // namespace

std::optional<Gpu> best_gpu(Transaction& transaction, const Claimant& claimant) {
  // Usually the first one is it.
  const std::vector<Gpu> first = best_gpus(transaction, claimant, 1);
  if (first.empty()) return std::nullopt;
  if (is_good(first.front(), claimant) && !among(claimant.refuse, first.front()))
    return first.front();
  const std::vector<Gpu> all = claimable_gpus(transaction, claimant);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<Gpu> claimable_gpus(Transaction& transaction, const Claimant& claimant) {
  constexpr std::size_t k_more = 16;
  std::vector<Gpu> best =
      best_gpus(transaction, claimant, claimant.refuse.size() + claimant.avoid.size() + k_more);
  std::erase_if(best, [&](const Gpu& gpu) { return among(claimant.refuse, gpu); });
  std::ranges::stable_partition(best, [&](const Gpu& gpu) { return is_good(gpu, claimant); });
  return best;
}

SlotsByHost free_slots(Transaction& transaction, const TenantId& dedicated_to) {
  const auto rows = transaction.db.query(
      "SELECT CASE WHEN source = 0 THEN host ELSE '' END, SUM(slots - sessions) FROM gpus "
      "WHERE " NAVTALK_CLAIMABLE("$1") "GROUP BY CASE WHEN source = 0 THEN host ELSE '' END",
      {dedicated_to.text});
  SlotsByHost slots;
  while (rows->next()) {
    const std::string host = column::text(*rows, 0);
    (host.empty() ? slots.anywhere : slots.of_host[host]) = column::number<int>(*rows, 1);
  }
  return slots;
}

Gpu open_session(Transaction& transaction, const Gpu& gpu, Lane lane) {
  const auto to = next(gpu.state, Event::session_opened);
  NAVTALK_CHECK(to);
  Gpu after = gpu;
  after.state = *to;
  after.sessions += 1;
  if (lane == Lane::batch) after.lent += 1;
  after.reserved_for = {};
  after.epoch = next_epoch(transaction, gpu);
  after.version += 1;
  if (after.state != gpu.state) after.since = transaction.now;
  transaction.db.run(
      "UPDATE gpus SET state = $2, sessions = $3, since = $4, reserved_for = '', epoch = $5, "
      "version = $6, lent = $7 WHERE id = $1",
      {gpu.id.text, column::of(after.state), column::of(after.sessions), column::of(after.since),
       column::of(after.epoch), column::of(after.version), column::of(after.lent)});
  return after;
}

Gpu close_session(Transaction& transaction, const GpuId& id, Lane lane, const Cause& cause) {
  const auto gpu = find_gpu(transaction, id);
  NAVTALK_CHECK(gpu && gpu->sessions > 0);
  const bool last = gpu->state == State::running && gpu->sessions == 1;
  const State to = last ? *next(gpu->state, Event::emptied) : gpu->state;
  transaction.db.run(
      "UPDATE gpus SET state = $2, sessions = sessions - 1, lent = lent - $4, since = $3, "
      "version = version + 1 WHERE id = $1",
      {id.text, column::of(to), column::of(last ? transaction.now : gpu->since),
       column::of(lane == Lane::batch ? 1 : 0)});
  if (last) write_event(transaction, id, cause, gpu->state, to);
  return *gpu;
}

void write_event(Transaction& transaction, const GpuId& id, const Cause& cause,
                 std::optional<State> from, std::optional<State> to) {
  transaction.db.run(
      "INSERT INTO events (at, gpu, who, why, from_state, to_state) "
      "VALUES ($1, $2, $3, $4, $5, $6)",
      {column::of(transaction.wall), id.text, cause.who, cause.why, column::of(from),
       column::of(to)});
}

void keep_ledger(Transaction& transaction, const GpuId& id, const std::optional<Gpu>& after,
                 std::optional<TimePoint> paid_since) {
  const bool now_paid = after && paid(*after);
  bool same = false, follows = false;
  {
    const auto open = transaction.db.query(
        "SELECT provider_id, usd_per_hour FROM paid_spans WHERE gpu = $1 AND ended_at IS NULL",
        {id.text});
    const bool was_paid = open->next();
    if (!was_paid && !now_paid) return;
    follows = was_paid;
    // The same number was stored, so the comparison is exact.
    same = was_paid && now_paid && open->text(0) == after->provider_id &&
           !(open->real(1) < after->usd_per_hour) && !(open->real(1) > after->usd_per_hour);
  }
  if (same) return;
  // Not before its start, if the clock was set back meanwhile.
  transaction.db.run(
      "UPDATE paid_spans SET ended_at = CASE WHEN started_at > $2 THEN started_at ELSE $2 END "
      "WHERE gpu = $1 AND ended_at IS NULL",
      {id.text, column::of(transaction.now)});
  if (!now_paid) return;
  const TimePoint from =
      follows || !paid_since ? transaction.now : std::min(*paid_since, transaction.now);
  transaction.db.run(
      "INSERT INTO paid_spans (gpu, provider_id, usd_per_hour, started_at) "
      "VALUES ($1, $2, $3, $4)",
      {id.text, after->provider_id, after->usd_per_hour, column::of(from)});
}

}  // namespace navtalk
