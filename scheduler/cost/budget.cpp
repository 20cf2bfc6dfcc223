#include "scheduler/cost/budget.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

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

// The warnings that were given last for a period, of each amount that was its budget:
// "2026-11 1000.00=100 2000.00=50".
struct BudgetWarnings {
  std::string period;  // a day, or a month
  std::map<std::string, int> percents{};
};

std::string warnings_text(const BudgetWarnings& warnings) {
  std::string text = warnings.period;
  for (const auto& [amount, percent] : warnings.percents)
    text += fmt::format(" {}={}", amount, percent);
  return text;
}

std::optional<BudgetWarnings> parse_warnings(std::string_view text) {
  std::istringstream in{std::string(text)};
  BudgetWarnings warnings;
  if (!(in >> warnings.period)) return std::nullopt;
  for (std::string pair; in >> pair;) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) continue;
    const auto percent = parse_number<int>(std::string_view(pair).substr(equals + 1));
    if (!percent) return std::nullopt;
    warnings.percents[pair.substr(0, equals)] = *percent;
  }
  return warnings;
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
    const Setting<BudgetWarnings> setting{
        .name = name, .as_text = warnings_text, .parse = parse_warnings};
    const auto known = setting.look_up(store);
    BudgetWarnings warnings{.period = state.name};
    if (known.value && known.value->period == state.name) warnings = *known.value;
    int& warned = warnings.percents[fmt::format("{:.2f}", state.budget_usd)];
    if (percent <= warned) continue;
    warned = percent;
    // Another process may have been quicker.
    if (!setting.replace(store, known, warnings)) continue;
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
