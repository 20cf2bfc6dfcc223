// SqlPoolStore: sessions and the queue.
#include <algorithm>
#include <iterator>
#include <set>

#include "scheduler/pool/identity.h"
#include "scheduler/pool/lending.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/gpu_table.h"
#include "scheduler/store/late_workers.h"
#include "scheduler/store/queue_order.h"
#include "scheduler/store/run_work.h"
#include "scheduler/store/session_table.h"
#include "scheduler/store/sql_pool_store.h"
#include "scheduler/store/waiter_table.h"

namespace navtalk {
namespace {

using enum Durability;

// What is free for those ahead and for the claimant.
FreeSlots free_for(Transaction& t, const std::vector<Claimant>& ahead, const Claimant& claimant) {
  FreeSlots slots{.shared = free_slots(t, {})};
  const auto look_up = [&](const Claimant& one) {
    const TenantId& tenant = one.tenant;
    if (!tenant.empty() && !slots.dedicated.contains(tenant)) {
      slots.dedicated[tenant] = free_slots(t, tenant);
    }
    if (one.max_sessions > 0 && !slots.held.contains(tenant)) {
      slots.held[tenant] = sessions_of(t, tenant);
    }
  };
  std::for_each(ahead.begin(), ahead.end(), look_up);
  look_up(claimant);
  return slots;
}

// Takes the GPUs that one of them refuses out of the counts.
void set_refused_apart(Transaction& t, const std::vector<Claimant>& ahead, FreeSlots& slots) {
  for (const Claimant& one : ahead) {
    for (const GpuId& id : one.refuse) {
      const auto gpu = find_gpu(t, id);
      const bool known =
          std::ranges::find(slots.refused, id, &RefusedGpu::id) != slots.refused.end();
      if (!gpu || known || !claimable(*gpu, gpu->dedicated_to)) continue;
      const int free = gpu->slots - gpu->sessions;
      slots = without(std::move(slots), *gpu, free);
      slots.refused.push_back({.id = id,
                               .dedicated_to = gpu->dedicated_to,
                               .host = gpu->source == Source::local ? gpu->host : "",
                               .free = free});
    }
  }
}

// What a claimant may take at a position in the queue.
enum class Reach : std::uint8_t {
  nothing,
  anything,
  some,  // only a GPU that those ahead can do without
};

struct Turn {
  Reach reach = Reach::anything;
  std::vector<Claimant> ahead{};
  FreeSlots slots{};
};

Turn turn_at(Transaction& t, const QueuedWaiter& position, const Claimant& claimant) {
  Turn turn{.ahead = live_waiters_before(t, position)};
  // The usual case: nobody waits. Whether a slot is free shows when it is claimed.
  if (turn.ahead.empty()) {
    const bool bounded =
        claimant.max_sessions > 0 && sessions_of(t, claimant.tenant) >= claimant.max_sessions;
    if (bounded) turn.reach = Reach::nothing;
    return turn;
  }
  turn.slots = free_for(t, turn.ahead, claimant);
  set_refused_apart(t, turn.ahead, turn.slots);
  if (!reaches(turn.ahead, claimant, turn.slots)) {
    turn.reach = Reach::nothing;
  } else if (!turn.slots.refused.empty()) {
    turn.reach = Reach::some;
  }
  return turn;
}

void score_promises(Transaction& t, const WaiterId& waiter) {
  t.db.run("UPDATE promises SET actual = $2 - made_at WHERE waiter = $1 AND actual IS NULL",
           {waiter.text, column::of(t.now)});
}

// Of a waiter who was not served: a promise whose time is over is broken by at least the time passed.
void score_broken_promises(Transaction& t, const WaiterId& waiter) {
  t.db.run(
      "UPDATE promises SET actual = $2 - made_at "
      "WHERE waiter = $1 AND actual IS NULL AND promised < $2 - made_at",
      {waiter.text, column::of(t.now)});
}

Lease open_lease(Transaction& t, const Gpu& gpu, const Claimant& claimant, TimePoint arrived_at,
                 Duration alive) {
  const Gpu after = open_session(t, gpu, claimant.lane);
  if (after.state != gpu.state) {
    write_event(t, gpu.id, {claimant.gateway, "first session"}, gpu.state, after.state);
  }
  Lease lease{.id = {random_id()},
              .gpu = gpu.id,
              .slot = gpu.sessions == 0 ? 0 : lowest_free_slot(t, gpu.id),
              .lane = claimant.lane,
              .epoch = after.epoch,
              .tenant = claimant.tenant,
              .gateway = claimant.gateway,
              .url = gpu.url,
              .origin = origin_of(gpu),
              .worker = worker_name(gpu.name),
              .arrived_at = arrived_at,
              .claimed_at = t.now,
              .until = t.now + alive};
  insert_lease(t, lease, claimant.id);
  return lease;
}

void expire_lease(Transaction& t, const Lease& lease) {
  const Gpu gpu = end_lease(t, lease, {"store", "its gateway did not renew the lease"});
  count_end(t, lease, gpu);
}

// The usual claimant is new, and nobody waits: one query instead of five.
bool is_plain(Transaction& t, const Claimant& claimant) {
  const auto rows = t.db.query(
      "SELECT 1 FROM sessions WHERE claimant = $1 UNION ALL SELECT 1 FROM waiters LIMIT 1",
      {claimant.id.text});
  return claimant.max_sessions <= 0 && !rows->next();
}

// The best GPU, of which those ahead need no slot that it has.
std::optional<Gpu> best_gpu_in(Transaction& t, const Turn& turn, const Claimant& claimant) {
  if (turn.reach == Reach::nothing) return std::nullopt;
  if (turn.reach == Reach::anything) return best_gpu(t, claimant);
  const std::vector<Gpu> gpus = claimable_gpus(t, claimant);
  const std::size_t most = served(turn.ahead, turn.slots);
  const auto spare = std::ranges::find_if(gpus, [&](const Gpu& gpu) {
    return served(turn.ahead, without(turn.slots, gpu, 1)) == most;
  });
  return spare != gpus.end() ? std::optional(*spare) : std::nullopt;
}

// Leases the best GPU to a claimant whose turn it is.
std::optional<Lease> claim_best(Transaction& t, const Turn& turn, const Claimant& claimant,
                                TimePoint arrived_at, Duration alive) {
  const auto gpu = best_gpu_in(t, turn, claimant);
  return gpu ? std::optional(open_lease(t, *gpu, claimant, arrived_at, alive)) : std::nullopt;
}

// Slots of the shared pool that a user of its gateway could have now.
int free_of(Transaction& t, const Claimant& claimant) {
  const SlotsByHost slots = free_slots(t, {});
  int free = slots.anywhere;
  for (const auto& [host, count] : slots.of_host)
    if (claimant.host.empty() || host == claimant.host) free += count;
  return free;
}

// Offline work takes what users leave.
std::optional<Lease> lend_in(Transaction& t, const Claimant& claimant, Duration alive) {
  if (!may_lend(live_waiter_count(t))) return std::nullopt;
  if (claimant.keep_free > 0 && free_of(t, claimant) <= claimant.keep_free) return std::nullopt;
  Claimant careful = claimant;
  std::ranges::move(late_gpus(t), std::back_inserter(careful.refuse));
  return claim_best(t, {}, careful, t.now, alive);
}

void note_refusals(Transaction& t, const QueuedWaiter& queued, const Claimant& claimant) {
  if (queued.waiter.claimant.refuse == claimant.refuse) return;
  set_refusals(t, claimant);
  t.notify = true;  // others may have what it refuses, or no longer
}

std::optional<Lease> claim_in(Transaction& t, const Claimant& claimant, Duration alive) {
  if (claimant.lane == Lane::batch) return lend_in(t, claimant, alive);
  std::optional<QueuedWaiter> queued;
  TimePoint arrived_at = claimant.came_at.value_or(t.now);
  Turn turn;
  if (!is_plain(t, claimant)) {
    if (auto held = lease_of(t, claimant.id)) {
      if (held->until > t.now) return held;
      expire_lease(t, *held);
    }
    queued = find_waiter(t, claimant.id);
    const QueuedWaiter position = queued ? *queued : prospective_position(t, claimant);
    if (queued) {
      arrived_at = queued->waiter.arrived_at;
      note_refusals(t, *queued, claimant);
    }
    turn = turn_at(t, position, claimant);
  }
  auto lease = claim_best(t, turn, claimant, arrived_at, alive);
  if (!lease) return std::nullopt;
  if (queued || claimant.came_at) score_promises(t, claimant.id);
  if (queued) {
    remove_waiter(t, *queued, true);
    t.notify = true;  // the others moved up
  } else {
    count_arrival(t, arrived_at);
  }
  return lease;
}

std::optional<std::size_t> enqueue_in(Transaction& t, const Claimant& claimant, std::size_t limit,
                                      Duration alive) {
  auto queued = find_waiter(t, claimant.id);
  if (queued) {
    renew_waiter(t, claimant.id, t.now + alive);
  } else {
    count_arrival(t, claimant.came_at.value_or(t.now));
    const bool has_place = claimant.came_at && limit > 0;
    if (!has_place && live_waiter_count(t) >= limit) return std::nullopt;
    if (!has_place && claimant.max_waiting >= 0 &&
        live_waiter_count(t, claimant.tenant) >= static_cast<std::size_t>(claimant.max_waiting)) {
      return std::nullopt;
    }
    queued = insert_waiter(t, claimant, t.now + alive);
    t.notify = true;
  }
  return live_waiters_before(t, *queued).size() + 1;
}

template <class IdType>
std::vector<IdType> renewed(Transaction& t, std::string_view sql,
                            std::initializer_list<DbValue> values) {
  const auto rows = t.db.query(sql, values);
  std::vector<IdType> ids;
  while (rows->next()) ids.push_back({column::text(*rows, 0)});
  return ids;
}

std::optional<Lease> held_under(Transaction& t, const LeaseId& id, std::uint64_t epoch) {
  auto lease = find_lease(t, id);
  return lease && lease->epoch == epoch ? lease : std::nullopt;
}

}  // namespace

std::optional<Lease> SqlPoolStore::claim(const Claimant& claimant, Duration lease) {
  return in_write(*backend_, relaxed, [&](Transaction& t) { return claim_in(t, claimant, lease); });
}

std::optional<std::size_t> SqlPoolStore::enqueue(const Claimant& claimant, std::size_t limit,
                                                 Duration alive) {
  return in_write(*backend_, relaxed,
                  [&](Transaction& t) { return enqueue_in(t, claimant, limit, alive); });
}

void SqlPoolStore::leave(const WaiterId& waiter) {
  in_write(*backend_, relaxed, [&](Transaction& t) {
    const auto queued = find_waiter(t, waiter);
    if (!queued) return;
    remove_waiter(t, *queued, false);
    score_broken_promises(t, waiter);
    t.notify = true;
  });
}

Renewal SqlPoolStore::renew(const std::string& gateway, Duration alive) {
  return in_write(*backend_, relaxed, [&](Transaction& t) {
    return Renewal{
        .leases =
            renewed<LeaseId>(t, "UPDATE sessions SET until = $2 WHERE gateway = $1 RETURNING lease",
                             {gateway, column::of(t.now + alive)}),
        .waiters = renewed<WaiterId>(t,
                                     "UPDATE waiters SET until = $2 WHERE gateway = $1 AND until > "
                                     "$3 RETURNING id",
                                     {gateway, column::of(t.now + alive), column::of(t.now)})};
  });
}

bool SqlPoolStore::release(const LeaseId& lease, std::uint64_t epoch) {
  return in_write(*backend_, relaxed, [&](Transaction& t) {
    const auto held = held_under(t, lease, epoch);
    if (!held) return false;
    const Gpu gpu = end_lease(t, *held, {held->gateway, "last session ended"});
    count_end(t, *held, gpu);
    return true;
  });
}

bool SqlPoolStore::unclaim(const LeaseId& lease, std::uint64_t epoch) {
  return in_write(*backend_, relaxed, [&](Transaction& t) {
    const auto held = held_under(t, lease, epoch);
    if (!held) return false;
    end_lease(t, *held, {held->gateway, "the session did not begin"});
    if (held->lane == Lane::live) uncount_arrival(t, held->arrived_at);
    return true;
  });
}

std::vector<Lease> SqlPoolStore::expire() {
  // Usually nothing has expired; then no writer is delayed.
  const bool any = in_read(*backend_, [](Transaction& t) {
    return !expired_leases(t).empty() || !expired_waiters(t).empty();
  });
  if (!any) return {};
  return in_write(*backend_, relaxed, [](Transaction& t) {
    std::vector<Lease> ended = expired_leases(t);
    for (const Lease& lease : ended) expire_lease(t, lease);
    for (const QueuedWaiter& waiter : expired_waiters(t)) {
      remove_waiter(t, waiter, false);
      score_broken_promises(t, waiter.waiter.claimant.id);
      t.notify = true;
    }
    return ended;
  });
}

std::vector<Lease> SqlPoolStore::leases() {
  return in_read(*backend_, [](Transaction& t) { return all_leases(t); });
}

}  // namespace navtalk
