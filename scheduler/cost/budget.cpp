#include "scheduler/cost/budget.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "core/text/number.h"
#include "scheduler/cost/spend.h"
#include "scheduler/pool/settings.h"

namespace navtalk {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr std::array<int, 3> k_thresholds = {100, 80, 50};

sys_days first_of_month(sys_days day) {
  const std::chrono::year_month_day date(day);
  return date.year() / date.month() / std::chrono::day(1);
}

// "2026-11-23 80": the period and the threshold that were warned of last.
std::string as_text(const std::string& period, int percent) {
  return fmt::format("{} {}", period, percent);
}

int warned_percent(const std::optional<std::string>& known, const std::string& period) {
  if (!known || !known->starts_with(period + " ")) return 0;
  return parse_number<int>(known->substr(period.size() + 1)).value_or(0);
}

}  // namespace

sys_days today() { return std::chrono::floor<days>(std::chrono::system_clock::now()); }

std::vector<BudgetState> budget_states(PoolStore& store, const Budgets& budgets, sys_days day) {
  std::vector<BudgetState> states;
  const auto add = [&](const char* period, double usd, sys_days from, std::size_t letters) {
    if (usd <= 0) return;
    states.push_back({.period = period,
                      .name = day_text(from).substr(0, letters),
                      .budget_usd = usd,
                      .spent_usd = usd_since(store, TimePoint(from))});
  };
  add("day", budgets.usd_per_day, day, 10);
  add("month", budgets.usd_per_month, first_of_month(day), 7);
  return states;
}

nlohmann::ordered_json as_json(const std::vector<BudgetState>& states) {
  auto list = nlohmann::ordered_json::array();
  for (const BudgetState& state : states) {
    list.push_back({{"period", state.period},
                    {"name", state.name},
                    {"budget_usd", state.budget_usd},
                    {"spent_usd", state.spent_usd}});
  }
  return list;
}

int reached_percent(const BudgetState& state) {
  for (const int percent : k_thresholds) {
    if (state.spent_usd * 100 >= state.budget_usd * percent) return percent;
  }
  return 0;
}

void watch_budgets(PoolStore& store, const Budgets& budgets, sys_days day) {
  for (const BudgetState& state : budget_states(store, budgets, day)) {
    const int percent = reached_percent(state);
    const std::string setting = std::string(setting_name::k_budget) + state.period;
    const auto known = store.setting(setting);
    if (percent <= warned_percent(known, state.name)) continue;
    // Another process may have been quicker.
    if (!store.swap_setting(setting, known, as_text(state.name, percent))) continue;
    const std::string text = fmt::format("{:.2f} of the {:.2f} USD for {} are spent: {} %",
                                         state.spent_usd, state.budget_usd, state.name, percent);
    store.record(Cause{"budget", text});
    log::warn("a budget reached a threshold",
              {{"budget", state.period},
               {"of", state.name},
               {"percent", std::to_string(percent)},
               {"spent_usd", fmt::format("{:.2f}", state.spent_usd)},
               {"budget_usd", fmt::format("{:.2f}", state.budget_usd)}});
  }
}

}  // namespace navtalk
