#include "scheduler/store/waiter_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <ranges>
#include <sstream>
#include <string>

#include "scheduler/store/columns.h"
#include "scheduler/store/queue_order.h"

namespace navtalk {
namespace {

#define NAVTALK_WAITER_COLUMNS \
  "id, tenant, plan, weight, gateway, max_sessions, arrived_at, until, tag, number, host, refuse"

std::string as_text(const std::vector<GpuId>& gpus) {
  return fmt::format("{}", fmt::join(gpus | std::views::transform(&GpuId::text), " "));
}

std::vector<GpuId> as_gpus(const std::string& text) {
  std::istringstream words(text);
  std::vector<GpuId> gpus;
  for (std::string id; words >> id;) gpus.push_back({id});
  return gpus;
}

QueuedWaiter read_waiter(DbRows& rows) {
  return {.waiter = {.claimant = {.id = {column::text(rows, 0)},
                                  .tenant = {column::text(rows, 1)},
                                  .plan = column::number<int>(rows, 2),
                                  .weight = rows.real(3),
                                  .gateway = column::text(rows, 4),
                                  .max_sessions = column::number<int>(rows, 5),
                                  .host = column::text(rows, 10),
                                  .refuse = as_gpus(column::text(rows, 11))},
                     .arrived_at = column::time(rows, 6),
                     .until = column::time(rows, 7),
                     .tag = rows.real(8)},
          .number = rows.integer(9)};
}

double real_or_zero(DbRows& rows) { return rows.next() ? rows.real(0) : 0; }

double virtual_time(Transaction& transaction, int plan) {
  return real_or_zero(*transaction.db.query("SELECT virtual_time FROM fair_plans WHERE plan = $1",
                                            {column::of(plan)}));
}

double tenant_finish(Transaction& transaction, int plan, const TenantId& tenant) {
  return real_or_zero(
      *transaction.db.query("SELECT finish FROM fair_tenants WHERE plan = $1 AND tenant = $2",
                            {column::of(plan), tenant.text}));
}

void set_tenant_finish(Transaction& transaction, int plan, const TenantId& tenant, double finish) {
  transaction.db.run(
      "INSERT INTO fair_tenants (plan, tenant, finish) VALUES ($1, $2, $3) "
      "ON CONFLICT (plan, tenant) DO UPDATE SET finish = excluded.finish",
      {column::of(plan), tenant.text, finish});
}

bool queue_empty(Transaction& transaction, int plan) {
  return !transaction.db.query("SELECT 1 FROM waiters WHERE plan = $1 LIMIT 1", {column::of(plan)})
              ->next();
}

// An empty queue needs no fairness: the numbers restart.
void forget_shares(Transaction& transaction, int plan) {
  transaction.db.run("DELETE FROM fair_tenants WHERE plan = $1", {column::of(plan)});
  transaction.db.run("DELETE FROM fair_plans WHERE plan = $1", {column::of(plan)});
}

void give_share_back(Transaction& transaction, const Waiter& waiter) {
  const Claimant& claimant = waiter.claimant;
  const double finish = tenant_finish(transaction, claimant.plan, claimant.tenant);
  if (finish > finish_tag(waiter.tag, claimant.weight))
    return;  // other waiters of the tenant are behind it
  set_tenant_finish(transaction, claimant.plan, claimant.tenant, waiter.tag);
}

// Ahead of the first waiter of its tenant who came later; nullopt: there is none, and so its place is
// the last of its tenant's.
std::optional<double> tag_before_later_ones(Transaction& transaction, const Claimant& claimant) {
  constexpr double k_ahead = 1e-6;
  if (!claimant.came_at) return std::nullopt;
  const auto later = transaction.db.query(
      "SELECT tag FROM waiters WHERE plan = $1 AND tenant = $2 AND arrived_at > $3 "
      "ORDER BY tag LIMIT 1",
      {column::of(claimant.plan), claimant.tenant.text, column::of(*claimant.came_at)});
  return later->next() ? std::optional(later->real(0) - k_ahead) : std::nullopt;
}

}  // namespace

std::vector<Waiter> live_waiters(Transaction& transaction) {
  const auto rows =
      transaction.db.query("SELECT " NAVTALK_WAITER_COLUMNS
                           " FROM waiters WHERE until > $1 ORDER BY plan DESC, tag, number",
                           {column::of(transaction.now)});
  std::vector<Waiter> waiters;
  while (rows->next()) {
    waiters.push_back(read_waiter(*rows).waiter);
    waiters.back().position = waiters.size();
  }
  return waiters;
}

std::optional<QueuedWaiter> find_waiter(Transaction& transaction, const WaiterId& id) {
  const auto rows = transaction.db.query(
      "SELECT " NAVTALK_WAITER_COLUMNS " FROM waiters WHERE id = $1", {id.text});
  return rows->next() ? std::optional(read_waiter(*rows)) : std::nullopt;
}

QueuedWaiter prospective_position(Transaction& transaction, const Claimant& claimant) {
  const double last = start_tag(virtual_time(transaction, claimant.plan),
                                tenant_finish(transaction, claimant.plan, claimant.tenant));
  return {.waiter = {.claimant = claimant,
                     .arrived_at = claimant.came_at.value_or(transaction.now),
                     .tag = tag_before_later_ones(transaction, claimant).value_or(last)},
          .number = std::numeric_limits<std::int64_t>::max()};
}

std::vector<Claimant> live_waiters_before(Transaction& transaction, const QueuedWaiter& position) {
  const auto rows = transaction.db.query(
      "SELECT " NAVTALK_WAITER_COLUMNS
      " FROM waiters WHERE until > $1 AND (plan > $2 OR (plan = $2 AND (tag < $3 OR (tag = $3 AND "
      "number < $4)))) ORDER BY plan DESC, tag, number",
      {column::of(transaction.now), column::of(position.waiter.claimant.plan), position.waiter.tag,
       position.number});
  std::vector<Claimant> before;
  while (rows->next()) before.push_back(read_waiter(*rows).waiter.claimant);
  return before;
}

std::size_t live_waiter_count(Transaction& transaction) {
  const auto rows = transaction.db.query("SELECT COUNT(*) FROM waiters WHERE until > $1",
                                         {column::of(transaction.now)});
  return rows->next() ? column::number<std::size_t>(*rows, 0) : 0;
}

std::size_t live_waiter_count(Transaction& transaction, const TenantId& tenant) {
  const auto rows =
      transaction.db.query("SELECT COUNT(*) FROM waiters WHERE until > $1 AND tenant = $2",
                           {column::of(transaction.now), tenant.text});
  return rows->next() ? column::number<std::size_t>(*rows, 0) : 0;
}

QueuedWaiter insert_waiter(Transaction& transaction, const Claimant& claimant, TimePoint until) {
  const Waiter place = prospective_position(transaction, claimant).waiter;
  transaction.db.run(
      "INSERT INTO waiters (id, tenant, plan, weight, gateway, max_sessions, arrived_at, until, "
      "tag, host, refuse) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
      {claimant.id.text, claimant.tenant.text, column::of(claimant.plan), claimant.weight,
       claimant.gateway, column::of(claimant.max_sessions), column::of(place.arrived_at),
       column::of(until), place.tag, claimant.host, as_text(claimant.refuse)});
  const double finish = tenant_finish(transaction, claimant.plan, claimant.tenant);
  set_tenant_finish(transaction, claimant.plan, claimant.tenant,
                    std::max(finish, finish_tag(place.tag, claimant.weight)));
  return *find_waiter(transaction, claimant.id);
}

void renew_waiter(Transaction& transaction, const WaiterId& id, TimePoint until) {
  transaction.db.run("UPDATE waiters SET until = $2 WHERE id = $1 AND until < $2",
                     {id.text, column::of(until)});
}

void set_refusals(Transaction& transaction, const Claimant& waiter) {
  transaction.db.run("UPDATE waiters SET refuse = $2 WHERE id = $1",
                     {waiter.id.text, as_text(waiter.refuse)});
}

void remove_waiter(Transaction& transaction, const QueuedWaiter& waiter, bool served) {
  const int plan = waiter.waiter.claimant.plan;
  transaction.db.run("DELETE FROM waiters WHERE id = $1", {waiter.waiter.claimant.id.text});
  if (queue_empty(transaction, plan)) {
    forget_shares(transaction, plan);
  } else if (served) {
    transaction.db.run(
        "INSERT INTO fair_plans (plan, virtual_time) VALUES ($1, $2) ON CONFLICT (plan) DO UPDATE "
        "SET virtual_time = excluded.virtual_time "
        "WHERE excluded.virtual_time > fair_plans.virtual_time",
        {column::of(plan), waiter.waiter.tag});
  } else {
    give_share_back(transaction, waiter.waiter);
  }
}

std::vector<QueuedWaiter> expired_waiters(Transaction& transaction) {
  const auto rows =
      transaction.db.query("SELECT " NAVTALK_WAITER_COLUMNS " FROM waiters WHERE until <= $1",
                           {column::of(transaction.now)});
  std::vector<QueuedWaiter> silent;
  while (rows->next()) silent.push_back(read_waiter(*rows));
  return silent;
}

}  // namespace navtalk
