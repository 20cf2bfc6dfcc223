#include "cmd/bench/serve/metrics.h"

#include <algorithm>
#include <optional>

#include "core/text/number.h"

namespace navtalk::cmd {
namespace {

constexpr std::string_view k_labelled = "navtalk_worker_stage_seconds_total{stage=\"";
constexpr std::string_view k_prefix = "navtalk_worker_", k_total = "_seconds_total";
constexpr const char* k_pictures = "navtalk_worker_pictures_total";
constexpr const char* k_generated = "navtalk_worker_generated_pictures_total";

// What stands between the two; nullopt for other names.
std::optional<std::string> between(std::string_view metric, std::string_view prefix,
                                   std::string_view suffix) {
  if (!metric.starts_with(prefix) || !metric.ends_with(suffix)) return std::nullopt;
  if (metric.size() <= prefix.size() + suffix.size()) return std::nullopt;
  return std::string(metric.substr(prefix.size(), metric.size() - prefix.size() - suffix.size()));
}

// Every picture is put together and coded; the nets work on those with lips.
double went_through(const std::string& stage, const Metrics& growth) {
  const bool every = stage == "compose" || stage == "encode";
  return value_of(growth, every ? k_pictures : k_generated);
}

std::vector<Stage> stages_between(const Metrics& growth, std::string_view prefix,
                                  std::string_view suffix) {
  std::vector<Stage> stages;
  for (const auto& [metric, seconds] : growth) {
    const std::optional<std::string> name = between(metric, prefix, suffix);
    const double count = name ? went_through(*name, growth) : 0;
    if (count > 0) stages.push_back({*name, seconds / count * 1000, count});
  }
  return stages;
}

}  // namespace

Metrics parse_metrics(std::string_view page) {
  Metrics metrics;
  while (!page.empty()) {
    const std::string_view line = page.substr(0, page.find('\n'));
    page.remove_prefix(std::min(page.size(), line.size() + 1));
    // A label's value may hold blanks; the value follows the last brace.
    const std::size_t brace = line.rfind('}');
    const std::size_t blank = line.find(' ', brace == line.npos ? 0 : brace);
    if (line.starts_with('#') || blank == line.npos) continue;
    if (const auto value = parse_number<double>(line.substr(blank + 1)))
      metrics[std::string(line.substr(0, blank))] = *value;
  }
  return metrics;
}

Metrics grown(const Metrics& earlier, const Metrics& later) {
  Metrics growth;
  for (const auto& [name, value] : later) {
    if (const auto before = earlier.find(name); before != earlier.end())
      growth[name] = value - before->second;
  }
  return growth;
}

void add(Metrics& sum, const Metrics& more) {
  for (const auto& [name, value] : more) sum[name] += value;
}

double value_of(const Metrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? 0 : found->second;
}

std::vector<Stage> stages_of(const Metrics& growth) {
  std::vector<Stage> stages = stages_between(growth, k_labelled, "\"}");
  return stages.empty() ? stages_between(growth, k_prefix, k_total) : stages;
}

}  // namespace navtalk::cmd
