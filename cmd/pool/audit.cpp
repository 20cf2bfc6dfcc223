// pool audit: the provider's bill beside the ledger.
#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/pool/parts.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/text/printable.h"
#include "runpod/api/api.h"
#include "runpod/audit.h"

namespace navtalk::cmd {
namespace {

constexpr int k_underrecorded = 1;  // exit status

struct AuditOptions {
  int days = 7;
  double tolerance = 0.05;
};

// Midnight (UTC) of the first of the last `days` days.
TimePoint first_midnight(TimePoint wall, int days) {
  const auto today = std::chrono::floor<std::chrono::days>(wall);
  return TimePoint(today - std::chrono::days(days - 1));
}

runpod::Audit audited(const AuditOptions& options, Context& context) {
  const auto& cloud = context.config.runpod;
  runpod::Api api({.url = cloud.api_url}, runpod::read_api_key(cloud.api_key_file));
  const auto bills = api.pod_bills(options.days, context.stop);
  if (const auto* fault = std::get_if<runpod::ApiFault>(&bills)) {
    throw Error(Code::failed, "Runpod's bill did not come: " + fault->message);
  }
  const auto store = open_store(context.config);
  const TimePoint now = store->now();
  const auto wall = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  // The ledger's times are the store's.
  const TimePoint from = first_midnight(wall, options.days) - (wall - now);
  return runpod::audit(store->ledger(from), std::get<std::vector<runpod::PodBill>>(bills), from,
                       now, options.tolerance);
}

double cents(double usd) { return std::round(usd * 10000) / 10000; }

nlohmann::ordered_json as_json(const runpod::Audit& audit, const AuditOptions& options) {
  auto rows = nlohmann::ordered_json::array(), unrecorded = nlohmann::ordered_json::array();
  for (const runpod::AuditRow& row : audit.rows) {
    rows.push_back({{"pod", row.pod},
                    {"recorded_h", row.recorded_h},
                    {"recorded_usd", cents(row.recorded_usd)},
                    {"billed_usd", row.billed_usd ? nlohmann::ordered_json(cents(*row.billed_usd))
                                                  : nlohmann::ordered_json()}});
  }
  for (const runpod::PodBill& bill : audit.unrecorded) {
    unrecorded.push_back({{"pod", bill.pod}, {"billed_usd", cents(bill.usd)}});
  }
  return {{"days", options.days},
          {"rows", std::move(rows)},
          {"recorded_usd", cents(audit.recorded_usd)},
          {"billed_usd", cents(audit.billed_usd)},
          {"underrecorded", audit.underrecorded},
          {"not_in_the_ledger", std::move(unrecorded)}};
}

void print(const runpod::Audit& audit, Context& context) {
  using Align = Column::Align;
  std::vector<std::vector<std::string>> rows;
  for (const runpod::AuditRow& row : audit.rows) {
    rows.push_back({printable(row.pod), fmt::format("{:.2f}", row.recorded_h),
                    fmt::format("{:.2f}", row.recorded_usd),
                    row.billed_usd ? fmt::format("{:.2f}", *row.billed_usd) : "-"});
  }
  context.out.write(table({{"POD"},
                           {"RECORDED H", Align::right},
                           {"RECORDED USD", Align::right},
                           {"BILLED USD", Align::right}},
                          rows, context.colour));
  context.out.print("\n{} in the ledger: {:.2f} USD recorded, {:.2f} USD billed\n",
                    counted(static_cast<std::int64_t>(audit.rows.size()), "pod"),
                    audit.recorded_usd, audit.billed_usd);
  for (const std::string& pod : audit.underrecorded) {
    context.out.print("{} is billed above what was recorded\n", printable(pod));
  }
  double unrecorded_usd = 0;
  for (const runpod::PodBill& bill : audit.unrecorded) unrecorded_usd += bill.usd;
  if (audit.unrecorded.empty()) return;
  context.out.print("{} of the account, {:.2f} USD, not in the ledger of this store:\n",
                    counted(static_cast<std::int64_t>(audit.unrecorded.size()), "pod"),
                    unrecorded_usd);
  for (const runpod::PodBill& bill : audit.unrecorded) {
    context.out.print("  {}  {:.2f} USD\n", printable(bill.pod), bill.usd);
  }
}

int run_audit(const AuditOptions& options, Context& context) {
  const runpod::Audit audit = audited(options, context);
  if (context.json) {
    context.out.json(as_json(audit, options));
  } else {
    print(audit, context);
  }
  context.out.flush();
  return audit.underrecorded.empty() ? 0 : k_underrecorded;
}

}  // namespace

void add_pool_audit(Commands& commands) {
  const auto options = std::make_shared<AuditOptions>();
  CLI::App& command = commands.add({
      .group = Group::pool,
      .name = "audit",
      .summary = "Compare Runpod's bill with what the pool recorded",
      .examples = "  navtalk pool audit\n"
                  "  navtalk pool audit --days 30 --json\n",
      .action = [options](Context& context) { return run_audit(*options, context); },
  });
  command.add_option("--days", options->days, "The last N days (UTC), including today (default 7)")
      ->check(CLI::Range(1, 30))
      ->type_name("N");
  command
      .add_option("--tolerance", options->tolerance,
                  "Fraction by which a bill may exceed the record (default 0.05)")
      ->check(CLI::Range(0.0, 10.0))
      ->type_name("PART");
}

}  // namespace navtalk::cmd
