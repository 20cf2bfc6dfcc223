// SqlPoolStore: history, settings, and deletion of old history.
#include <algorithm>

#include "core/base/error.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/gpu_table.h"
#include "scheduler/store/run_work.h"
#include "scheduler/store/sql_pool_store.h"

namespace navtalk {
namespace {

using enum Durability;
using column::of;

template <class T, class Read>
std::vector<T> list(Transaction& t, std::string_view sql, std::initializer_list<DbValue> values,
                    Read read) {
  const auto rows = t.db.query(sql, values);
  std::vector<T> all;
  while (rows->next()) all.push_back(read(*rows));
  return all;
}

PoolEvent read_event(DbRows& rows) {
  return {.number = rows.integer(0),
          .at = column::time(rows, 1),
          .gpu = {column::text(rows, 2)},
          .who = column::text(rows, 3),
          .why = column::text(rows, 4),
          .from = column::maybe<State>(rows, 5),
          .to = column::maybe<State>(rows, 6)};
}

DemandBucket read_demand(DbRows& rows) {
  return {.start = column::time(rows, 0),
          .arrivals = rows.integer(1),
          .ended = rows.integer(2),
          .ended_seconds = rows.real(3)};
}

Attempt read_attempt(DbRows& rows) {
  return {.at = column::time(rows, 0),
          .gpu = {column::text(rows, 1)},
          .source = column::number<Source>(rows, 2),
          .operation = column::number<Operation>(rows, 3),
          .result = column::number<Attempt::Result>(rows, 4),
          .took = column::duration(rows, 5),
          .detail = column::text(rows, 6)};
}

Promise read_promise(DbRows& rows) {
  return {.waiter = {column::text(rows, 0)},
          .made_at = column::time(rows, 1),
          .promised = column::duration(rows, 2),
          .actual = column::maybe<Duration>(rows, 3)};
}

Decision read_decision(DbRows& rows) {
  return {.at = column::time(rows, 0),
          .policy = column::text(rows, 1),
          .shadow = rows.integer(2) != 0,
          .target = column::number<int>(rows, 3),
          .supply = column::number<int>(rows, 4),
          .busy = column::number<int>(rows, 5),
          .queued = column::number<int>(rows, 6),
          .cloud = rows.integer(7) != 0,
          .actions = column::text(rows, 8)};
}

PaidSpan read_span(DbRows& rows) {
  return {.gpu = {column::text(rows, 0)},
          .provider_id = column::text(rows, 1),
          .usd_per_hour = rows.real(2),
          .from = column::time(rows, 3),
          .to = column::maybe<TimePoint>(rows, 4)};
}

Usage read_usage(DbRows& rows) {
  return {.day = std::chrono::floor<std::chrono::days>(column::time(rows, 0)),
          .tenant = {column::text(rows, 1)},
          .origin = column::number<Origin>(rows, 2),
          .sessions = rows.integer(3),
          .seconds = rows.real(4),
          .usd = rows.real(5)};
}

std::optional<std::string> setting_in(Transaction& t, std::string_view name) {
  const auto rows = t.db.query("SELECT value FROM settings WHERE name = $1", {name});
  return rows->next() ? std::optional(column::text(*rows, 0)) : std::nullopt;
}

void set_setting_in(Transaction& t, std::string_view name, std::string_view value) {
  t.db.run(
      "INSERT INTO settings (name, value) VALUES ($1, $2) "
      "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      {name, value});
}

}  // namespace

std::vector<PoolEvent> SqlPoolStore::events(const EventQuery& query) {
  return in_read(*backend_, [&](Transaction& t) {
    auto newest = list<PoolEvent>(
        t,
        "SELECT number, at, gpu, who, why, from_state, to_state FROM events WHERE number > $1 "
        "AND at >= $2 AND (gpu = $3 OR '' = $3) ORDER BY number DESC LIMIT $4",
        {query.after, query.since ? of(*query.since) : 0, query.gpu ? query.gpu->text : "",
         of(query.limit)},
        read_event);
    std::reverse(newest.begin(), newest.end());
    return newest;
  });
}

void SqlPoolStore::record(const Cause& event) {
  in_write(*backend_, relaxed,
           [&](Transaction& t) { write_event(t, {}, event, std::nullopt, std::nullopt); });
}

std::vector<DemandBucket> SqlPoolStore::demand(TimePoint since) {
  return in_read(*backend_, [&](Transaction& t) {
    return list<DemandBucket>(t,
                              "SELECT start, arrivals, ended, ended_seconds FROM demand "
                              "WHERE start >= $1 ORDER BY start",
                              {of(since)}, read_demand);
  });
}

void SqlPoolStore::record(const Attempt& attempt) {
  in_write(*backend_, relaxed, [&](Transaction& t) {
    t.db.run(
        "INSERT INTO attempts (at, gpu, source, operation, result, took, detail) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7)",
        {of(attempt.at), attempt.gpu.text, of(attempt.source), of(attempt.operation),
         of(attempt.result), of(attempt.took), attempt.detail});
  });
}

std::vector<Attempt> SqlPoolStore::attempts(TimePoint since) {
  return in_read(*backend_, [&](Transaction& t) {
    return list<Attempt>(t,
                         "SELECT at, gpu, source, operation, result, took, detail FROM attempts "
                         "WHERE at >= $1 ORDER BY at, number",
                         {of(since)}, read_attempt);
  });
}

void SqlPoolStore::record(const Promise& promise) {
  in_write(*backend_, relaxed, [&](Transaction& t) {
    t.db.run("INSERT INTO promises (waiter, made_at, promised, actual) VALUES ($1, $2, $3, $4)",
             {promise.waiter.text, of(promise.made_at), of(promise.promised), of(promise.actual)});
  });
}

// An outcome became known at made_at + actual: an index has the sum.
std::vector<Promise> SqlPoolStore::promises(const PromiseQuery& query) {
  return in_read(*backend_, [&](Transaction& t) {
    if (!query.known_after) {
      return list<Promise>(t,
                           "SELECT waiter, made_at, promised, actual FROM promises "
                           "WHERE made_at >= $1 ORDER BY made_at, number",
                           {of(query.made_since)}, read_promise);
    }
    return list<Promise>(t,
                         "SELECT waiter, made_at, promised, actual FROM promises "
                         "WHERE actual IS NOT NULL AND made_at + actual > $1 AND made_at >= $2 "
                         "ORDER BY made_at + actual, number",
                         {of(*query.known_after), of(query.made_since)}, read_promise);
  });
}

PromiseScore SqlPoolStore::promise_score(TimePoint made_since) {
  return in_read(*backend_, [&](Transaction& t) {
    const auto rows = t.db.query(
        "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN actual <= promised THEN 1 ELSE 0 END), 0) AS "
        "BIGINT), CAST(COALESCE(SUM(ABS(actual - promised)), 0) AS BIGINT) FROM promises "
        "WHERE made_at >= $1 AND actual IS NOT NULL",
        {of(made_since)});
    if (!rows->next()) return PromiseScore{};
    return PromiseScore{
        .scored = rows->integer(0), .kept = rows->integer(1), .error = column::duration(*rows, 2)};
  });
}

void SqlPoolStore::record(const Decision& decision) {
  in_write(*backend_, relaxed, [&](Transaction& t) {
    t.db.run(
        "INSERT INTO decisions (at, policy, shadow, target, supply, busy, queued, cloud, actions) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        {of(decision.at), decision.policy, of(decision.shadow), of(decision.target),
         of(decision.supply), of(decision.busy), of(decision.queued), of(decision.cloud),
         decision.actions});
  });
}

std::vector<Decision> SqlPoolStore::decisions(TimePoint since) {
  return in_read(*backend_, [&](Transaction& t) {
    return list<Decision>(t,
                          "SELECT at, policy, shadow, target, supply, busy, queued, cloud, actions "
                          "FROM decisions WHERE at >= $1 ORDER BY at, number",
                          {of(since)}, read_decision);
  });
}

std::vector<PaidSpan> SqlPoolStore::ledger(TimePoint since) {
  return in_read(*backend_, [&](Transaction& t) {
    return list<PaidSpan>(
        t,
        "SELECT gpu, provider_id, usd_per_hour, started_at, ended_at FROM paid_spans "
        "WHERE ended_at IS NULL OR ended_at >= $1 ORDER BY started_at, number",
        {of(since)}, read_span);
  });
}

std::vector<Usage> SqlPoolStore::usage(std::chrono::sys_days since) {
  return in_read(*backend_, [&](Transaction& t) {
    return list<Usage>(t,
                       "SELECT day, tenant, source, sessions, seconds, usd FROM usage "
                       "WHERE day >= $1 ORDER BY day, tenant, source",
                       {of(TimePoint(since))}, read_usage);
  });
}

std::optional<std::string> SqlPoolStore::setting(std::string_view name) {
  return in_read(*backend_, [&](Transaction& t) { return setting_in(t, name); });
}

void SqlPoolStore::set_setting(std::string_view name, std::string_view value) {
  in_write(*backend_, durable, [&](Transaction& t) { set_setting_in(t, name, value); });
}

bool SqlPoolStore::swap_setting(std::string_view name, const std::optional<std::string>& expected,
                                std::string_view value) {
  return in_write(*backend_, durable, [&](Transaction& t) {
    if (setting_in(t, name) != expected) return false;
    set_setting_in(t, name, value);
    return true;
  });
}

// In steps, so that a long history does not delay claims.
void SqlPoolStore::forget(TimePoint before, TimePoint accounts_before) {
  const auto delete_until = [&](std::string_view sql, TimePoint time) {
    in_write(*backend_, relaxed, [&](Transaction& t) { t.db.run(sql, {of(time)}); });
  };
  const auto one = [&](std::string_view sql) { delete_until(sql, before); };
  // The newest event stays: its number is never given again.
  one("DELETE FROM events WHERE at < $1 AND number < (SELECT MAX(number) FROM events)");
  one("DELETE FROM demand WHERE start < $1");
  one("DELETE FROM attempts WHERE at < $1");
  one("DELETE FROM promises WHERE made_at < $1");
  one("DELETE FROM decisions WHERE at < $1");
  delete_until("DELETE FROM paid_spans WHERE ended_at < $1", accounts_before);
  // By the wall clock, which may be ahead of the store's or behind it by less than matters here.
  delete_until("DELETE FROM usage WHERE day < $1", accounts_before);
}

}  // namespace navtalk
