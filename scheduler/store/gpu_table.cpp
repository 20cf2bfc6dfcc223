#include "scheduler/store/gpu_table.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "core/base/check.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

#define NAVTALK_GPU_COLUMNS                                                               \
  "id, name, source, state, draining, dedicated_to, slots, sessions, host, device, url, " \
  "provider_id, usd_per_hour, created_at, since, seen_at, last_error, reserved_for, "     \
  "operation, intent_number, intent_owner, intent_until, intent_called, intent_since, "   \
  "intent_tries, epoch, version, misses, missed_since"

Intent read_intent(DbRows& rows, int at) {
  return {.operation = column::number<Operation>(rows, at),
          .number = column::number<std::uint64_t>(rows, at + 1),
          .owner = column::text(rows, at + 2),
          .until = column::time(rows, at + 3),
          .called = rows.integer(at + 4) != 0,
          .since = column::time(rows, at + 5),
          .tries = column::number<int>(rows, at + 6)};
}

Gpu read_gpu(DbRows& rows) {
  return {.id = {column::text(rows, 0)},
          .name = column::text(rows, 1),
          .source = column::number<Source>(rows, 2),
          .state = column::number<State>(rows, 3),
          .draining = rows.integer(4) != 0,
          .dedicated_to = {column::text(rows, 5)},
          .slots = column::number<int>(rows, 6),
          .sessions = column::number<int>(rows, 7),
          .host = column::text(rows, 8),
          .device = column::text(rows, 9),
          .url = column::text(rows, 10),
          .provider_id = column::text(rows, 11),
          .usd_per_hour = rows.real(12),
          .created_at = column::time(rows, 13),
          .since = column::time(rows, 14),
          .seen_at = column::time(rows, 15),
          .misses = column::number<int>(rows, 27),
          .missed_since = column::time(rows, 28),
          .last_error = column::text(rows, 16),
          .reserved_for = {column::text(rows, 17)},
          .intent = read_intent(rows, 18),
          .epoch = column::number<std::uint64_t>(rows, 25),
          .version = column::number<std::uint64_t>(rows, 26)};
}

std::vector<Gpu> read_gpus(DbRows& rows) {
  std::vector<Gpu> gpus;
  while (rows.next()) gpus.push_back(read_gpu(rows));
  return gpus;
}

// Claims of a database that forgot some start above all epochs that it may have given before.
std::uint64_t next_epoch(const Transaction& transaction, const Gpu& gpu) {
  constexpr int k_claims_bits = 24;  // of one GPU between two crashes of the machine
  return std::max(gpu.epoch, transaction.generation << k_claims_bits) + 1;
}

bool paid(const Gpu& gpu) {
  return gpu.source == Source::cloud && !gpu.provider_id.empty() && gpu.usd_per_hour > 0 &&
         gpu.state != State::paused;
}

}  // namespace

std::vector<Gpu> all_gpus(Transaction& transaction) {
  auto gpus = read_gpus(*transaction.db.query("SELECT " NAVTALK_GPU_COLUMNS " FROM gpus", {}));
  const auto older = [](const Gpu& a, const Gpu& b) {
    return std::tie(a.created_at, a.id) < std::tie(b.created_at, b.id);
  };
  if (!std::is_sorted(gpus.begin(), gpus.end(), older)) {
    std::sort(gpus.begin(), gpus.end(), older);
  }
  return gpus;
}

std::optional<Gpu> find_gpu(Transaction& transaction, const GpuId& id) {
  const auto rows =
      transaction.db.query("SELECT " NAVTALK_GPU_COLUMNS " FROM gpus WHERE id = $1", {id.text});
  return rows->next() ? std::optional(read_gpu(*rows)) : std::nullopt;
}

void insert_gpu(Transaction& transaction, const Gpu& gpu) {
  using column::of;
  transaction.db.run(
      "INSERT INTO gpus (" NAVTALK_GPU_COLUMNS
      ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, "
      "$19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)",
      {gpu.id.text,
       gpu.name,
       of(gpu.source),
       of(gpu.state),
       of(gpu.draining),
       gpu.dedicated_to.text,
       of(gpu.slots),
       of(gpu.sessions),
       gpu.host,
       gpu.device,
       gpu.url,
       gpu.provider_id,
       gpu.usd_per_hour,
       of(gpu.created_at),
       of(gpu.since),
       of(gpu.seen_at),
       gpu.last_error,
       gpu.reserved_for.text,
       of(gpu.intent.operation),
       of(gpu.intent.number),
       gpu.intent.owner,
       of(gpu.intent.until),
       of(gpu.intent.called),
       of(gpu.intent.since),
       of(gpu.intent.tries),
       of(gpu.epoch),
       of(gpu.version),
       of(gpu.misses),
       of(gpu.missed_since)});
}

void update_gpu(Transaction& transaction, const Gpu& gpu) {
  using column::of;
  transaction.db.run(
      "UPDATE gpus SET state = $2, draining = $3, slots = $4, host = $5, device = $6, url = $7, "
      "provider_id = $8, usd_per_hour = $9, since = $10, last_error = $11, reserved_for = $12, "
      "operation = $13, intent_number = $14, intent_owner = $15, intent_until = $16, "
      "intent_called = $17, intent_since = $18, intent_tries = $19, version = $20 WHERE id = $1",
      {gpu.id.text,
       of(gpu.state),
       of(gpu.draining),
       of(gpu.slots),
       gpu.host,
       gpu.device,
       gpu.url,
       gpu.provider_id,
       gpu.usd_per_hour,
       of(gpu.since),
       gpu.last_error,
       gpu.reserved_for.text,
       of(gpu.intent.operation),
       of(gpu.intent.number),
       gpu.intent.owner,
       of(gpu.intent.until),
       of(gpu.intent.called),
       of(gpu.intent.since),
       of(gpu.intent.tries),
       of(gpu.version)});
}

void delete_gpu(Transaction& transaction, const GpuId& id) {
  transaction.db.run("DELETE FROM gpus WHERE id = $1", {id.text});
}

// The conditions repeat the partial index gpus_with_room word for word, so that it is used.
#define NAVTALK_WITH_ROOM(tenant) \
  "dedicated_to = " tenant " AND state < 2 AND draining = 0 AND sessions < slots "
#define NAVTALK_BEST_OF(tenant) \
  "SELECT * FROM (SELECT " NAVTALK_GPU_COLUMNS " FROM gpus WHERE " NAVTALK_WITH_ROOM(tenant) \
  "AND (source <> 0 OR host = '' OR $2 = '' OR host = $2) "                              \
  "ORDER BY source, sessions DESC, created_at, id LIMIT 1) AS best_of"

std::optional<Gpu> best_gpu(Transaction& transaction, const TenantId& tenant,
                            const std::string& host) {
  const auto best = read_gpus(*transaction.db.query(
      NAVTALK_BEST_OF("$1") " UNION ALL " NAVTALK_BEST_OF("'' AND $1 <> ''"), {tenant.text, host}));
  return best.empty() ? std::nullopt : std::optional(best.front());
}

Room free_slots(Transaction& transaction, const TenantId& dedicated_to) {
  const auto rows = transaction.db.query(
      "SELECT CASE WHEN source = 0 THEN host ELSE '' END, SUM(slots - sessions) FROM gpus "
      "WHERE " NAVTALK_WITH_ROOM("$1") "GROUP BY CASE WHEN source = 0 THEN host ELSE '' END",
      {dedicated_to.text});
  Room room;
  while (rows->next()) {
    const std::string host = column::text(*rows, 0);
    (host.empty() ? room.anywhere : room.of_host[host]) = column::number<int>(*rows, 1);
  }
  return room;
}

Gpu open_session(Transaction& transaction, const Gpu& gpu) {
  const auto to = next(gpu.state, Event::session_opened);
  NAVTALK_CHECK(to);
  Gpu after = gpu;
  after.state = *to;
  after.sessions += 1;
  after.reserved_for = {};
  after.epoch = next_epoch(transaction, gpu);
  after.version += 1;
  if (after.state != gpu.state) after.since = transaction.now;
  transaction.db.run(
      "UPDATE gpus SET state = $2, sessions = $3, since = $4, reserved_for = '', epoch = $5, "
      "version = $6 WHERE id = $1",
      {gpu.id.text, column::of(after.state), column::of(after.sessions), column::of(after.since),
       column::of(after.epoch), column::of(after.version)});
  return after;
}

void close_session(Transaction& transaction, const GpuId& id, const Cause& cause) {
  const auto gpu = find_gpu(transaction, id);
  NAVTALK_CHECK(gpu && gpu->sessions > 0);
  const bool last = gpu->state == State::running && gpu->sessions == 1;
  const State to = last ? *next(gpu->state, Event::emptied) : gpu->state;
  transaction.db.run(
      "UPDATE gpus SET state = $2, sessions = sessions - 1, since = $3, version = version + 1 "
      "WHERE id = $1",
      {id.text, column::of(to), column::of(last ? transaction.now : gpu->since)});
  if (last) write_event(transaction, id, cause, gpu->state, to);
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
    // Exactly the same number was stored.
    same = was_paid && now_paid && open->text(0) == after->provider_id &&
           !(open->real(1) < after->usd_per_hour) && !(open->real(1) > after->usd_per_hour);
  }
  if (same) return;
  transaction.db.run("UPDATE paid_spans SET ended_at = $2 WHERE gpu = $1 AND ended_at IS NULL",
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
