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

// The warning that was given last for a period: "2026-11-23 80".
struct BudgetWarning {
  std::string period;  // a day, or a month
  int percent = 0;
};

std::string warning_text(const BudgetWarning& warning) {
  return fmt::format("{} {}", warning.period, warning.percent);
}

std::optional<BudgetWarning> parse_warning(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto percent = parse_number<int>(text.substr(space + 1));
  if (!percent) return std::nullopt;
  return BudgetWarning{.period = std::string(text.substr(0, space)), .percent = *percent};
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
    const std::string name = std::string(setting_name::k_budget) + state.period;
    const Setting<BudgetWarning> setting{
        .name = name, .as_text = warning_text, .parse = parse_warning};
    const auto known = setting.look_up(store);
    const bool same_period = known.value && known.value->period == state.name;
    if (percent <= (same_period ? known.value->percent : 0)) continue;
    // Another process may have been quicker.
    if (!setting.replace(store, known, {.period = state.name, .percent = percent})) continue;
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
