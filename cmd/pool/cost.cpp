// pool cost: what the cloud's GPUs cost, by day and by tenant, and what is left of the budgets.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <map>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/pool/parts.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/text/printable.h"
#include "scheduler/cost/budget.h"
#include "scheduler/cost/spend.h"
#include "scheduler/service/pool_config.h"

namespace navtalk::cmd {
namespace {

struct CostOptions {
  int days = 7;
  std::string by = "day";
  bool csv = false;
};

using Rows = std::vector<std::vector<std::string>>;

struct Sheet {
  std::vector<Column> columns;
  Rows rows{};
};

std::string usd(double amount, bool exact) {
  return exact ? fmt::format("{:.4f}", amount) : fmt::format("{:.2f}", amount);
}
std::string hours(double amount, bool exact) {
  return exact ? fmt::format("{:.4f}", amount) : fmt::format("{:.1f}", amount);
}

constexpr auto k_right = Column::Align::right;

Sheet sheet_of_days(const Spend& spend, bool exact) {
  Sheet sheet{{{"DAY"},
               {"PROVIDER"},
               {"GPU HOURS", k_right},
               {"USD", k_right},
               {"SESSIONS", k_right},
               {"SESSION HOURS", k_right},
               {"USED USD", k_right}}};
  for (const DaySpend& one : spend.days) {
    sheet.rows.push_back({day_text(one.day), std::string(name(one.origin)),
                          hours(one.gpu_hours, exact), usd(one.usd, exact),
                          std::to_string(one.sessions), hours(one.session_hours, exact),
                          usd(one.used_usd, exact)});
  }
  return sheet;
}

Sheet sheet_of_providers(const Spend& spend, bool exact) {
  std::map<Origin, DaySpend> sums;
  for (const DaySpend& one : spend.days) {
    DaySpend& sum = sums[one.origin];
    sum.gpu_hours += one.gpu_hours;
    sum.usd += one.usd;
    sum.sessions += one.sessions;
    sum.session_hours += one.session_hours;
    sum.used_usd += one.used_usd;
  }
  Sheet sheet{{{"PROVIDER"},
               {"GPU HOURS", k_right},
               {"USD", k_right},
               {"SESSIONS", k_right},
               {"SESSION HOURS", k_right},
               {"USED USD", k_right}}};
  for (const auto& [origin, sum] : sums) {
    sheet.rows.push_back({std::string(name(origin)), hours(sum.gpu_hours, exact),
                          usd(sum.usd, exact), std::to_string(sum.sessions),
                          hours(sum.session_hours, exact), usd(sum.used_usd, exact)});
  }
  return sheet;
}

Sheet sheet_of_tenants(const Spend& spend, bool exact) {
  Sheet sheet{{{"TENANT"}, {"SESSIONS", k_right}, {"SESSION HOURS", k_right}, {"USD", k_right}}};
  for (const TenantSpend& one : spend.tenants) {
    const std::string tenant = one.tenant.empty() ? "" : printable(one.tenant.text);
    sheet.rows.push_back({exact || !tenant.empty() ? tenant : "-", std::to_string(one.sessions),
                          hours(one.session_hours, exact), usd(one.usd, exact)});
  }
  return sheet;
}

Sheet sheet_of(const Spend& spend, const CostOptions& options) {
  if (options.by == "tenant") return sheet_of_tenants(spend, options.csv);
  if (options.by == "provider") return sheet_of_providers(spend, options.csv);
  return sheet_of_days(spend, options.csv);
}

// Headings in small letters with underscores, as the JSON has them.
std::string csv_name(std::string heading) {
  for (char& letter : heading) {
    letter = letter == ' ' ? '_' : static_cast<char>(letter | 0x20);
  }
  return heading;
}

// RFC 4180. No field of a sheet holds a quote or a comma but a tenant's name, which may hold neither.
void print_csv(const Sheet& sheet, Context& context) {
  std::vector<std::string> names;
  for (const Column& column : sheet.columns) names.push_back(csv_name(column.heading));
  context.out.print("{}\n", fmt::join(names, ","));
  for (const auto& row : sheet.rows) context.out.print("{}\n", fmt::join(row, ","));
}

void print_text(const Spend& spend, const std::vector<BudgetState>& budgets, const Sheet& sheet,
                Context& context) {
  if (!sheet.rows.empty()) {
    context.out.write(table(sheet.columns, sheet.rows, context.colour));
    context.out.print("\n");
  }
  context.out.print(
      "{} to {}: {:.2f} USD for {:.1f} GPU hours, {:.2f} USD of it used by sessions\n",
      day_text(spend.from), day_text(spend.to), spend.usd, spend.gpu_hours, spend.used_usd);
  for (const BudgetState& state : budgets) {
    context.out.print("{}: {:.2f} of {:.2f} USD spent ({:.0f} %)\n", state.name, state.spent_usd,
                      state.budget_usd, 100 * state.spent_usd / state.budget_usd);
  }
}

int run_cost(const CostOptions& options, Context& context) {
  if (options.csv && context.json) throw Error(Code::usage, "--csv and --json exclude each other");
  const auto store = open_store(context.config);
  const Spend spend = read_spend(*store, options.days);
  const std::vector<BudgetState> states = budget_states(*store, budgets(context.config));
  if (context.json) {
    auto object = as_json(spend);
    object["budgets"] = as_json(states);
    context.out.json(object);
  } else if (options.csv) {
    print_csv(sheet_of(spend, options), context);
  } else {
    print_text(spend, states, sheet_of(spend, options), context);
  }
  context.out.flush();
  return 0;
}

}  // namespace

void add_pool_cost(Commands& commands) {
  const auto options = std::make_shared<CostOptions>();
  CLI::App& command = commands.add({
      .group = Group::pool,
      .name = "cost",
      .summary = "Show what GPUs cost, by day, provider and tenant",
      .examples = "  navtalk pool cost\n"
                  "  navtalk pool cost --days 31 --by tenant\n"
                  "  navtalk pool cost --days 31 --csv\n",
      .action = [options](Context& context) { return run_cost(*options, context); },
  });
  command.add_option("--days", options->days, "The last N days (UTC), including today (default 7)")
      ->check(CLI::Range(1, 400))
      ->type_name("N");
  command.add_option("--by", options->by, "day, provider or tenant (default day)")
      ->check(CLI::IsMember({"day", "provider", "tenant"}))
      ->type_name("WHAT");
  command.add_flag("--csv", options->csv, "Print CSV with a heading instead of a table");
}

}  // namespace navtalk::cmd
