#include "scheduler/store/session_table.h"

#include "scheduler/pool/identity.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/gpu_table.h"

namespace navtalk {
namespace {

#define NAVTALK_LEASE_COLUMNS                                                      \
  "lease, gpu, slot, epoch, tenant, gateway, url, arrived_at, claimed_at, until, " \
  "COALESCE((SELECT source FROM gpus WHERE gpus.id = sessions.gpu), 0), "          \
  "COALESCE((SELECT name FROM gpus WHERE gpus.id = sessions.gpu), ''), lane, "     \
  "COALESCE((SELECT provider_id FROM gpus WHERE gpus.id = sessions.gpu), '')"

Lease read_lease(DbRows& rows) {
  return {.id = {column::text(rows, 0)},
          .gpu = {column::text(rows, 1)},
          .slot = column::number<int>(rows, 2),
          .lane = column::number<Lane>(rows, 12),
          .epoch = column::number<std::uint64_t>(rows, 3),
          .tenant = {column::text(rows, 4)},
          .gateway = column::text(rows, 5),
          .url = column::text(rows, 6),
          .origin = origin_of(column::number<Source>(rows, 10), column::text(rows, 13)),
          .worker = worker_name(column::text(rows, 11)),
          .arrived_at = column::time(rows, 7),
          .claimed_at = column::time(rows, 8),
          .until = column::time(rows, 9)};
}

std::vector<Lease> read_leases(DbRows& rows) {
  std::vector<Lease> leases;
  while (rows.next()) leases.push_back(read_lease(rows));
  return leases;
}

std::optional<Lease> read_one(DbRows& rows) {
  return rows.next() ? std::optional(read_lease(rows)) : std::nullopt;
}

TimePoint bucket_of(TimePoint time) {
  return TimePoint(time.time_since_epoch() / k_demand_bucket * Duration(k_demand_bucket));
}

void add_demand(Transaction& transaction, const DemandBucket& more) {
  transaction.db.run(
      "INSERT INTO demand (start, arrivals, ended, ended_seconds) VALUES ($1, $2, $3, $4) "
      "ON CONFLICT (start) DO UPDATE SET arrivals = demand.arrivals + excluded.arrivals, "
      "ended = demand.ended + excluded.ended, "
      "ended_seconds = demand.ended_seconds + excluded.ended_seconds",
      {column::of(more.start), more.arrivals, more.ended, more.ended_seconds});
}

void add_usage(Transaction& transaction, const Usage& more) {
  transaction.db.run(
      "INSERT INTO usage (day, tenant, source, sessions, seconds, usd) "
      "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (day, tenant, source) DO UPDATE SET "
      "sessions = usage.sessions + excluded.sessions, seconds = usage.seconds + excluded.seconds, "
      "usd = usage.usd + excluded.usd",
      {column::of(TimePoint(more.day)), more.tenant.text, column::of(more.origin), more.sessions,
       more.seconds, more.usd});
}

}  // namespace

std::vector<Lease> all_leases(Transaction& transaction) {
  return read_leases(
      *transaction.db.query("SELECT " NAVTALK_LEASE_COLUMNS " FROM sessions ORDER BY number", {}));
}

std::vector<Lease> expired_leases(Transaction& transaction) {
  return read_leases(*transaction.db.query("SELECT " NAVTALK_LEASE_COLUMNS
                                           " FROM sessions WHERE until <= $1 ORDER BY number",
                                           {column::of(transaction.now)}));
}

std::optional<Lease> lease_of(Transaction& transaction, const WaiterId& claimant) {
  return read_one(*transaction.db.query(
      "SELECT " NAVTALK_LEASE_COLUMNS " FROM sessions WHERE claimant = $1", {claimant.text}));
}

std::optional<Lease> find_lease(Transaction& transaction, const LeaseId& id) {
  return read_one(*transaction.db.query(
      "SELECT " NAVTALK_LEASE_COLUMNS " FROM sessions WHERE lease = $1", {id.text}));
}

int sessions_of(Transaction& transaction, const TenantId& tenant) {
  const auto rows =
      tenant.empty()
          ? transaction.db.query("SELECT COUNT(*) FROM sessions WHERE tenant = '' AND lane = 0", {})
          : transaction.db.query(
                "SELECT COUNT(*) FROM sessions WHERE tenant = $1 AND tenant <> '' AND "
                "lane = 0",
                {tenant.text});
  return rows->next() ? column::number<int>(*rows, 0) : 0;
}

int lowest_free_slot(Transaction& transaction, const GpuId& gpu) {
  const auto rows =
      transaction.db.query("SELECT slot FROM sessions WHERE gpu = $1 ORDER BY slot", {gpu.text});
  int slot = 0;
  while (rows->next() && rows->integer(0) == slot) ++slot;
  return slot;
}

void insert_lease(Transaction& transaction, const Lease& lease, const WaiterId& claimant) {
  using column::of;
  transaction.db.run(
      "INSERT INTO sessions (lease, claimant, gpu, slot, epoch, tenant, gateway, url, arrived_at, "
      "claimed_at, until, lane) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
      {lease.id.text, claimant.text, lease.gpu.text, of(lease.slot), of(lease.epoch),
       lease.tenant.text, lease.gateway, lease.url, of(lease.arrived_at), of(lease.claimed_at),
       of(lease.until), of(lease.lane)});
}

Gpu end_lease(Transaction& transaction, const Lease& lease, const Cause& cause) {
  transaction.db.run("DELETE FROM sessions WHERE lease = $1", {lease.id.text});
  transaction.notify = true;
  return close_session(transaction, lease.gpu, lease.lane, cause);
}

void count_arrival(Transaction& transaction, TimePoint arrived_at) {
  add_demand(transaction, {.start = bucket_of(arrived_at), .arrivals = 1});
}

void uncount_arrival(Transaction& transaction, TimePoint arrived_at) {
  transaction.db.run("UPDATE demand SET arrivals = arrivals - 1 WHERE start = $1 AND arrivals > 0",
                     {column::of(bucket_of(arrived_at))});
}

void count_end(Transaction& transaction, const Lease& lease, const Gpu& gpu) {
  const Duration session = transaction.now - lease.claimed_at;
  const bool live = lease.lane == Lane::live;
  if (live) {
    add_demand(
        transaction,
        {.start = bucket_of(transaction.now), .ended = 1, .ended_seconds = in_seconds(session)});
  }
  for (const Usage& piece :
       usage_of(lease.tenant, gpu, transaction.wall - session, transaction.wall, live)) {
    add_usage(transaction, piece);
  }
}

}  // namespace navtalk
