// SqlPoolStore: GPU rows and the scaler's lease.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/net/url.h"
#include "core/process/identity.h"
#include "scheduler/pool/scaling_limits.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/gpu_columns.h"
#include "scheduler/store/gpu_table.h"
#include "scheduler/store/run_work.h"
#include "scheduler/store/sql_pool_store.h"
#include "scheduler/store/waiter_table.h"

namespace navtalk {
namespace {

using enum Durability;

// 0: the caller is not a scaler.
bool fence_holds(Transaction& t, std::uint64_t fence) {
  if (fence == 0) return true;
  const auto rows = t.db.query("SELECT 1 FROM scaler WHERE fence = $1 AND until > $2",
                               {column::of(fence), column::of(t.now)});
  return rows->next();
}

bool counts(const Gpu& gpu) { return gpu.dedicated_to.empty() && gpu.source != Source::external; }

// A paused GPU carries the price that it will have when it is woken. A failed row counts only if an
// instance was created for it: see nothing_was_made().
// `leaving`: of this state a row does not count either.
bool caps_allow(Transaction& t, const NewGpu& added, State leaving = State::paused) {
  const auto rows = t.db.query(
      "SELECT COUNT(CASE WHEN dedicated_to = '' AND source <> $1 AND NOT (source = $3 AND "
      "provider_id = '' AND usd_per_hour <= 0 AND state IN ($4, $5)) THEN 1 END), "
      "COALESCE(SUM(CASE WHEN state NOT IN ($2, $7) THEN usd_per_hour END), 0.0) FROM gpus "
      "WHERE id <> $6",
      {column::of(Source::external), column::of(State::paused), column::of(Source::cloud),
       column::of(State::failed), column::of(State::stopping), added.gpu.id.text,
       column::of(leaving)});
  if (!rows->next()) return false;
  const bool few = added.max_gpus == 0 || !counts(added.gpu) || rows->integer(0) < added.max_gpus;
  const double usd = rows->real(1) + added.gpu.usd_per_hour;
  return few && (added.max_usd_per_hour <= 0 || usd <= added.max_usd_per_hour + k_rounding_usd);
}

// A wake makes a row count, and a price changes what it counts for. What is being destroyed makes no
// room for a new instance before it is gone, but is not a reason to give up one that exists.
bool cap_allows(Transaction& t, const Gpu& before, const GpuChange& change) {
  const bool counts_more = change.event == Event::wake || change.usd_per_hour;
  if (!counts_more || change.max_usd_per_hour <= 0) return true;
  Gpu priced = before;
  priced.usd_per_hour = change.usd_per_hour.value_or(before.usd_per_hour);
  const bool exists =
      change.event != Event::wake && !change.provider_id.value_or(before.provider_id).empty();
  return caps_allow(t, {.gpu = priced, .max_usd_per_hour = change.max_usd_per_hour},
                    exists ? State::stopping : State::paused);
}

// One local worker for each device, however many ask at the same time.
bool device_is_free(Transaction& t, const Gpu& gpu) {
  if (gpu.source != Source::local || gpu.device.empty()) return true;
  const auto taken =
      t.db.query("SELECT id FROM gpus WHERE source = $1 AND host = $2 AND device = $3",
                 {column::of(gpu.source), gpu.host, gpu.device});
  return !taken->next();
}

bool name_taken(Transaction& t, const std::string& name) {
  return t.db.query("SELECT 1 FROM gpus WHERE name = $1", {name})->next();
}

void check_new(Transaction& t, const Gpu& gpu) {
  const auto taken =
      t.db.query("SELECT id, name FROM gpus WHERE id = $1 OR name = $2", {gpu.id.text, gpu.name});
  if (taken->next()) {
    throw Error(Code::invalid,
                fmt::format("GPU {} ({}) is in the pool already: remove it first, or "
                            "name the new one otherwise",
                            taken->text(0), taken->text(1)));
  }
}

// A worker with two rows would be given twice the sessions that it can hold. Compares what the URLs
// mean, because one URL can be written in several ways.
void check_url(Transaction& t, const Gpu& gpu) {
  if (gpu.source != Source::external || gpu.url.empty()) return;
  const auto others = t.db.query("SELECT id, url FROM gpus WHERE url <> ''", {});
  while (others->next()) {
    if (!same_base(column::text(*others, 1), gpu.url)) continue;
    throw Error(Code::invalid,
                fmt::format("'{}' is the URL of {} already", gpu.url, others->text(0)));
  }
}

// The waiter that the row would be reserved for; empty: none; nullopt: the row is not needed.
std::optional<WaiterId> needed_for(Transaction& t, const ForUsers& users) {
  const std::vector<Waiter> waiters = live_waiters(t);
  ComingSlots slots;
  for (const Gpu& gpu : all_gpus(t)) slots.add(gpu);
  if (slots.enough(waiters.size(), users.spare)) return std::nullopt;
  const auto coming = static_cast<std::size_t>(slots.slots);
  return coming < waiters.size() ? waiters[coming].claimant.id : WaiterId{};
}

Gpu as_new(Gpu gpu, TimePoint now) {
  const auto set = [now](TimePoint& time) {
    if (time == TimePoint{}) time = now;
  };
  set(gpu.created_at);
  set(gpu.since);
  if (gpu.intent.operation != Operation::none) set(gpu.intent.since);
  if (gpu.version == 0) gpu.version = 1;
  gpu.sessions = 0;
  return gpu;
}

// A GPU that is ready again while sessions still hold it is running, not idle.
State state_after(const Gpu& gpu, Event event) {
  if (event == Event::session_opened || event == Event::emptied) {
    throw Error(
        Code::failed,
        fmt::format("GPU {}: sessions are opened and ended by claim and release", gpu.id.text));
  }
  auto to = next(gpu.state, event);
  if (to == State::idle && gpu.sessions > 0) to = next(*to, Event::session_opened);
  if (!to) {
    throw Error(Code::failed, fmt::format("GPU {} is {}, so \"{}\" cannot happen to it",
                                          gpu.id.text, name(gpu.state), name(event)));
  }
  return *to;
}

Gpu changed(Gpu gpu, const GpuChange& change, TimePoint now) {
  if (change.event) {
    const State to = state_after(gpu, *change.event);
    if (to != gpu.state) gpu.since = now;
    gpu.state = to;
  }
  if (change.event == Event::ready) gpu.seen_at = now;
  if (change.event == Event::ready || change.event == Event::wake) {
    gpu.misses = 0;
    gpu.missed_since = {};
  }
  for (const GpuColumn& column : gpu_columns()) {
    if (column.assign != nullptr) column.assign(gpu, change);
  }
  gpu.version += 1;
  return gpu;
}

std::optional<Gpu> change_in(Transaction& t, const GpuChange& change, const Cause& cause) {
  const auto before = find_gpu(t, change.id);
  if (!before || before->version != change.version || !fence_holds(t, change.fence)) {
    return std::nullopt;
  }
  if (!cap_allows(t, *before, change)) return std::nullopt;
  Gpu after = changed(*before, change, t.now);
  if (change.event == Event::wake && change.for_users) {
    const auto waiter = needed_for(t, *change.for_users);
    if (!waiter) return std::nullopt;
    after.reserved_for = *waiter;
  }
  update_gpu(t, after);
  if (change.event || before->draining != after.draining) {
    write_event(t, after.id, cause, before->state, after.state);
  }
  keep_ledger(t, after.id, after, change.paid_since);
  t.notify = true;
  return after;
}

bool remove_in(Transaction& t, const GpuId& id, std::uint64_t version, const Cause& cause) {
  const auto gpu = find_gpu(t, id);
  if (!gpu || gpu->version != version) return false;
  const bool over = gpu->state == State::stopping || gpu->state == State::failed;
  if ((!over && gpu->source != Source::external) || gpu->sessions > 0) {
    throw Error(
        Code::failed,
        fmt::format("GPU {} is {} with {} sessions: only one that is failed or stopping, or an "
                    "external one, can be removed, and without sessions",
                    id.text, name(gpu->state), gpu->sessions));
  }
  delete_gpu(t, id);
  keep_ledger(t, id, std::nullopt);
  write_event(t, id, cause, gpu->state, std::nullopt);
  t.notify = true;
  return true;
}

}  // namespace

PoolView SqlPoolStore::view() {
  return in_read(*backend_, [](Transaction& t) {
    return PoolView{.now = t.now, .gpus = all_gpus(t), .waiters = live_waiters(t)};
  });
}

std::vector<Waiter> SqlPoolStore::waiters() {
  return in_read(*backend_, [](Transaction& t) { return live_waiters(t); });
}

std::optional<Gpu> SqlPoolStore::find(const GpuId& id) {
  return in_read(*backend_, [&](Transaction& t) { return find_gpu(t, id); });
}

std::optional<Gpu> SqlPoolStore::add(const NewGpu& gpu, const Cause& cause) {
  return in_write(*backend_, durable, [&](Transaction& t) -> std::optional<Gpu> {
    if (gpu.if_new_name && name_taken(t, gpu.gpu.name)) return std::nullopt;
    check_new(t, gpu.gpu);
    check_url(t, gpu.gpu);
    if (!fence_holds(t, gpu.fence) || !device_is_free(t, gpu.gpu) || !caps_allow(t, gpu))
      return std::nullopt;
    Gpu row = as_new(gpu.gpu, t.now);
    if (gpu.for_users) {
      const auto waiter = needed_for(t, *gpu.for_users);
      if (!waiter) return std::nullopt;
      row.reserved_for = *waiter;
    }
    insert_gpu(t, row);
    write_event(t, row.id, cause, std::nullopt, row.state);
    keep_ledger(t, row.id, row, gpu.paid_since);
    t.notify = true;
    return row;
  });
}

std::optional<Gpu> SqlPoolStore::change(const GpuChange& change, const Cause& cause) {
  return in_write(*backend_, durable, [&](Transaction& t) { return change_in(t, change, cause); });
}

bool SqlPoolStore::remove(const GpuId& id, std::uint64_t version, const Cause& cause) {
  return in_write(*backend_, durable,
                  [&](Transaction& t) { return remove_in(t, id, version, cause); });
}

std::optional<std::uint64_t> SqlPoolStore::hold_scaler(const std::string& owner, Duration lease) {
  return in_write(*backend_, durable, [&](Transaction& t) -> std::optional<std::uint64_t> {
    std::string holder;
    std::uint64_t fence = 0;
    bool held = false;
    {
      const auto rows = t.db.query("SELECT owner, fence, until FROM scaler", {});
      if (!rows->next()) throw Error(Code::failed, "the pool store has lost its scaler's row");
      holder = column::text(*rows, 0);
      fence = column::number<std::uint64_t>(*rows, 1);
      // The lease of a dead process of this host does not hold.
      held = column::time(*rows, 2) > t.now && !is_dead(holder);
    }
    if (held && holder != owner) return std::nullopt;
    if (!held) ++fence;
    t.db.run("UPDATE scaler SET owner = $1, fence = $2, until = $3",
             {owner, column::of(fence), column::of(t.now + lease)});
    return fence;
  });
}

void SqlPoolStore::yield_scaler(const std::string& owner) {
  in_write(*backend_, durable, [&](Transaction& t) {
    t.db.run("UPDATE scaler SET until = 0 WHERE owner = $1", {owner});
  });
}

}  // namespace navtalk
