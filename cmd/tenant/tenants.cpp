// tenant list, show, set: the limits and shares of tenants in offline rendering.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/pool/parts.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/text/printable.h"
#include "scheduler/jobs/shares/division.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "scheduler/pool/tenant_name.h"

namespace navtalk::cmd {
namespace {

using Json = nlohmann::ordered_json;

struct SetOptions {
  std::string tenant;
  std::optional<int> plan{}, max_running{};
  std::optional<double> weight{}, max_rate{}, max_queued{};
};

bool is_of_file(const Config& config, const TenantId& tenant) {
  return std::any_of(config.tenants.begin(), config.tenants.end(),
                     [&](const TenantConfig& one) { return one.name == tenant.text; });
}

VideoMinutes minutes(double count) { return VideoMinutes(from_seconds(count * 60)); }

TenantStore open_tenants(const Config& config) {
  return TenantStore(open_backend(config), job_terms_of(config));
}

Json as_json(const TenantId& tenant, const TenantTerms& terms, bool of_file) {
  return {{"tenant", tenant.text},
          {"plan", terms.plan},
          {"weight", terms.weight},
          {"max_rate", terms.max_rate},
          {"max_queued", terms.max_queued.count()},
          {"max_running", terms.max_running},
          {"source", of_file ? "file" : "store"}};
}

std::string shown_limit(double limit) { return limit > 0 ? fmt::format("{:g}", limit) : "none"; }

int list_tenants(Context& context) {
  const TenantTermsTable table_of = open_tenants(context.config).table();
  if (context.json) {
    Json all = Json::array();
    for (const auto& [tenant, terms] : table_of)
      all.push_back(as_json(tenant, terms, is_of_file(context.config, tenant)));
    context.out.json({{"tenants", std::move(all)}});
    return 0;
  }
  if (table_of.empty()) {
    context.out.print("No tenant has terms of its own.\n");
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [tenant, terms] : table_of) {
    rows.push_back({tenant.text, std::to_string(terms.plan), fmt::format("{:g}", terms.weight),
                    shown_limit(terms.max_rate), shown_limit(terms.max_queued.count()),
                    shown_limit(terms.max_running),
                    is_of_file(context.config, tenant) ? "file" : "store"});
  }
  constexpr auto k_right = Column::Align::right;
  context.out.write(table({{"TENANT"},
                           {"PLAN", k_right},
                           {"WEIGHT", k_right},
                           {"MAX RATE", k_right},
                           {"MAX QUEUED", k_right},
                           {"MAX RUNNING", k_right},
                           {"FROM"}},
                          rows, context.colour));
  return 0;
}

TenantId checked_tenant(const std::string& name) {
  const TenantId tenant{name};
  if (valid_tenant_name(tenant)) return tenant;
  throw Error(Code::invalid, "'" + printable_start(name, k_longest_tenant) +
                                 "' is not a valid tenant name: " + k_tenant_name_rule);
}

int show_tenant(const std::string& name, Context& context) {
  const TenantId tenant = checked_tenant(name);
  TenantStore tenants = open_tenants(context.config);
  const TenantTerms terms = tenants.terms_of(tenant);
  Division division = tenants.division();
  const TenantLine line = division.line_of(tenant, terms);
  const double assured = assured_share(division, tenant);
  if (context.json) {
    Json object = as_json(tenant, terms, is_of_file(context.config, tenant));
    object["share"] = line.share;
    object["assured_share"] = assured;
    object["bucket"] = line.bucket.minutes;
    object["queued"] = {{"jobs", line.queued_jobs}, {"video_minutes", line.queued.count()}};
    object["released"] = {{"jobs", line.released_jobs}, {"video_minutes", line.released.count()}};
    object["running"] = {{"jobs", line.running_jobs}, {"video_minutes", line.running.count()}};
    context.out.json(object);
    return 0;
  }
  const auto limit = [](double count) { return count > 0 ? shown_limit(count) : "no limit"; };
  context.out.print(
      "Tenant {}: plan {}, weight {:g}\nLimits: video-minutes a minute: {}; queued video-minutes: "
      "{}; jobs at once: {}\n",
      tenant.text, terms.plan, terms.weight, limit(terms.max_rate), limit(terms.max_queued.count()),
      limit(terms.max_running));
  context.out.print(
      "Queued {} jobs ({:.1f} video-minutes), released {} ({:.1f}), running {} ({:.1f})\n",
      line.queued_jobs, line.queued.count(), line.released_jobs, line.released.count(),
      line.running_jobs, line.running.count());
  context.out.print("Share {:.2f} video-minutes a minute, {:.2f} with an endless queue\n",
                    line.share, assured);
  return 0;
}

int set_tenant(const SetOptions& options, Context& context) {
  const TenantId tenant = checked_tenant(options.tenant);
  TenantStore tenants = open_tenants(context.config);
  TenantTerms terms = tenants.terms_of(tenant);
  if (options.plan) terms.plan = *options.plan;
  if (options.weight) terms.weight = *options.weight;
  if (options.max_rate) terms.max_rate = *options.max_rate;
  if (options.max_queued) terms.max_queued = minutes(*options.max_queued);
  if (options.max_running) terms.max_running = *options.max_running;
  tenants.set(tenant, terms);
  if (context.json) {
    context.out.json(as_json(tenant, terms, false));
  } else {
    context.out.print("Tenant {}: plan {}, weight {:g}, rate {}, queued {}, running {}\n",
                      tenant.text, terms.plan, terms.weight, shown_limit(terms.max_rate),
                      shown_limit(terms.max_queued.count()), shown_limit(terms.max_running));
  }
  return 0;
}

}  // namespace

void add_tenant_list(Commands& commands) {
  commands.add({
      .group = Group::tenant,
      .name = "list",
      .summary = "Show the tenants that have terms of their own",
      .examples = "  navtalk tenant list\n",
      .action = [](Context& context) { return list_tenants(context); },
  });
}

void add_tenant_show(Commands& commands) {
  const auto tenant = std::make_shared<std::string>();
  CLI::App& command = commands.add({
      .group = Group::tenant,
      .name = "show",
      .summary = "Show a tenant's terms, its jobs and its share",
      .examples = "  navtalk tenant show acme\n",
      .action = [tenant](Context& context) { return show_tenant(*tenant, context); },
  });
  command.add_option("tenant", *tenant, "The tenant's name")->required()->type_name("TENANT");
}

void add_tenant_set(Commands& commands) {
  const auto options = std::make_shared<SetOptions>();
  CLI::App& command = commands.add({
      .group = Group::tenant,
      .name = "set",
      .summary = "Change a tenant's terms; what is not given stays",
      .examples = "  navtalk tenant set acme --plan 1 --weight 2\n"
                  "  navtalk tenant set acme --max-queued 600\n",
      .action = [options](Context& context) { return set_tenant(*options, context); },
  });
  command.add_option("tenant", options->tenant, "The tenant's name")
      ->required()
      ->type_name("TENANT");
  command.add_option("--plan", options->plan, "Higher plans are served first")
      ->check(CLI::Range(0, k_highest_plan))
      ->type_name("N");
  command.add_option("--weight", options->weight, "Share among tenants of the same plan")
      ->check(CLI::Range(k_least_weight, k_most_weight))
      ->type_name("N");
  command
      .add_option("--max-rate", options->max_rate, "Maximum of video-minutes a minute; 0: no limit")
      ->check(CLI::Range(0.0, k_most_minutes))
      ->type_name("N");
  command
      .add_option("--max-queued", options->max_queued,
                  "Maximum of queued video-minutes; 0: no limit")
      ->check(CLI::Range(0.0, k_most_minutes))
      ->type_name("N");
  command
      .add_option("--max-running", options->max_running,
                  "Maximum number of jobs at once; 0: no limit")
      ->check(CLI::Range(0, k_most_running))
      ->type_name("N");
}

}  // namespace navtalk::cmd
