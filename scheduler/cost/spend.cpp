#include "scheduler/cost/spend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace navtalk {
namespace {

using nlohmann::ordered_json;
using std::chrono::days;
using std::chrono::sys_days;

struct Clocks {
  TimePoint wall{};
  Duration ahead{};  // the wall clock's time minus the store's
};

Clocks read_clocks(PoolStore& store) {
  const auto wall = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  return {wall, wall - store.now()};
}

using ByDay = std::map<std::pair<sys_days, Origin>, DaySpend>;

DaySpend& of_day(ByDay& all, sys_days day, Origin origin) {
  DaySpend& one = all[{day, origin}];
  one.day = day;
  one.origin = origin;
  return one;
}

// The part of [from, to) on each day.
template <class Count>
void each_day(TimePoint from, TimePoint to, const Count& count) {
  for (auto day = std::chrono::floor<days>(from); TimePoint(day) < to; day += days(1)) {
    const TimePoint begin = std::max<TimePoint>(from, day);
    const TimePoint end = std::min<TimePoint>(to, day + days(1));
    count(day, in_seconds(end - begin) / 3600);
  }
}

void add_ledger(ByDay& all, PoolStore& store, sys_days from, const Clocks& clocks) {
  for (const PaidSpan& span : store.ledger(TimePoint(from) - clocks.ahead)) {
    const TimePoint begin = std::max<TimePoint>(span.from + clocks.ahead, from);
    const TimePoint end = span.to ? *span.to + clocks.ahead : clocks.wall;
    each_day(begin, std::min(end, clocks.wall), [&](sys_days day, double hours) {
      DaySpend& one = of_day(all, day, origin_of(Source::cloud, span.provider_id));
      one.gpu_hours += hours;
      one.usd += hours * span.usd_per_hour;
    });
  }
}

// What ended sessions used, and what open ones have used until now.
std::vector<Usage> read_usage(PoolStore& store, sys_days from, const Clocks& clocks) {
  std::vector<Usage> all = store.usage(from);
  const std::vector<Lease> leases = store.leases();
  if (leases.empty()) return all;
  std::map<std::string, Gpu> gpus;
  for (Gpu& gpu : store.view().gpus) gpus.emplace(gpu.id.text, std::move(gpu));
  for (const Lease& lease : leases) {
    const auto gpu = gpus.find(lease.gpu.text);
    if (gpu == gpus.end()) continue;  // it ended meanwhile
    for (Usage& piece :
         usage_of(lease.tenant, gpu->second, lease.claimed_at + clocks.ahead, clocks.wall, false)) {
      if (piece.day >= from) all.push_back(std::move(piece));
    }
  }
  return all;
}

std::vector<TenantSpend> by_tenant(const std::vector<Usage>& usage) {
  std::map<std::string, TenantSpend> all;
  for (const Usage& piece : usage) {
    TenantSpend& one = all[piece.tenant.text];
    one.tenant = piece.tenant;
    one.sessions += piece.sessions;
    one.session_hours += piece.seconds / 3600;
    one.usd += piece.usd;
  }
  std::vector<TenantSpend> list;
  for (auto& [name, one] : all) list.push_back(std::move(one));
  std::stable_sort(list.begin(), list.end(), [](const TenantSpend& a, const TenantSpend& b) {
    return std::pair(a.usd, a.session_hours) > std::pair(b.usd, b.session_hours);
  });
  return list;
}

// To a hundredth of a cent, and hours to a tenth of a second.
double rounded(double number) { return std::round(number * 1e4) / 1e4; }

}  // namespace

Spend read_spend(PoolStore& store, int days_back) {
  const Clocks clocks = read_clocks(store);
  Spend spend{.to = std::chrono::floor<days>(clocks.wall)};
  spend.from = spend.to - days(std::max(1, days_back) - 1);
  ByDay all;
  add_ledger(all, store, spend.from, clocks);
  const std::vector<Usage> usage = read_usage(store, spend.from, clocks);
  for (const Usage& piece : usage) {
    DaySpend& one = of_day(all, piece.day, piece.origin);
    one.sessions += piece.sessions;
    one.session_hours += piece.seconds / 3600;
    one.used_usd += piece.usd;
  }
  for (auto& [key, one] : all) {
    spend.gpu_hours += one.gpu_hours;
    spend.usd += one.usd;
    spend.session_hours += one.session_hours;
    spend.used_usd += one.used_usd;
    spend.days.push_back(one);
  }
  spend.tenants = by_tenant(usage);
  return spend;
}

double usd_since(PoolStore& store, TimePoint wall) {
  const Clocks clocks = read_clocks(store);
  double usd = 0;
  for (const PaidSpan& span : store.ledger(wall - clocks.ahead)) {
    const TimePoint begin = std::max(span.from + clocks.ahead, wall);
    const TimePoint end = span.to ? *span.to + clocks.ahead : clocks.wall;
    if (end > begin) usd += in_seconds(end - begin) / 3600 * span.usd_per_hour;
  }
  return usd;
}

std::string day_text(sys_days day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

ordered_json as_json(const Spend& spend) {
  ordered_json list = ordered_json::array(), tenants = ordered_json::array();
  for (const DaySpend& one : spend.days) {
    list.push_back({{"day", day_text(one.day)},
                    {"provider", name(one.origin)},
                    {"gpu_hours", rounded(one.gpu_hours)},
                    {"usd", rounded(one.usd)},
                    {"sessions", one.sessions},
                    {"session_hours", rounded(one.session_hours)},
                    {"used_usd", rounded(one.used_usd)}});
  }
  for (const TenantSpend& one : spend.tenants) {
    tenants.push_back({{"tenant", one.tenant.text},
                       {"sessions", one.sessions},
                       {"session_hours", rounded(one.session_hours)},
                       {"usd", rounded(one.usd)}});
  }
  return {{"from", day_text(spend.from)},
          {"to", day_text(spend.to)},
          {"days", std::move(list)},
          {"tenants", std::move(tenants)},
          {"gpu_hours", rounded(spend.gpu_hours)},
          {"usd", rounded(spend.usd)},
          {"session_hours", rounded(spend.session_hours)},
          {"used_usd", rounded(spend.used_usd)}};
}

}  // namespace navtalk
