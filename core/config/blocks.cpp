#include "core/config/blocks.h"

#include "core/base/error.h"
#include "core/calendar/recurring_window.h"

namespace navtalk {
namespace {

constexpr double k_most = 1e6;
constexpr double k_most_slots = 10000, k_most_gpus = 100000;  // as in [pool]
constexpr double k_day_min = 24 * 60;                         // as long as an operator's notice

template <class Block>
std::optional<std::string> window_fault(const Block& block) {
  for (const auto& [key, text] : {std::pair("start", &block.start), {"end", &block.end}}) {
    if (text->empty()) return std::string("needs ") + key;
  }
  try {
    RecurringWindow::parse(block.time_zone, block.start, block.end);
  } catch (const Error& error) {
    return error.message();
  }
  return std::nullopt;
}

}  // namespace

std::vector<BlockKey> block_keys(TenantConfig& tenant) {
  return {{"name", &tenant.name},
          {"plan", &tenant.plan, 0, 1000},
          {"weight", &tenant.weight, 0.001, 1000},
          {"max_sessions", &tenant.max_sessions, 0, k_most},
          {.name = "max_waiting",
           .member = &tenant.max_waiting,
           .most = k_most,
           .is_set = tenant.max_waiting >= 0},
          {"max_connections", &tenant.max_connections, 0, k_most},
          {"max_messages_per_s", &tenant.max_messages_per_s, 0, k_most},
          {"max_job_rate", &tenant.max_job_rate, 0, 1e9},
          {"max_queued_minutes", &tenant.max_queued_minutes, 0, 1e9},
          {"max_running_jobs", &tenant.max_running_jobs, 0, k_most}};
}

std::vector<BlockKey> block_keys(ScheduleConfig& schedule) {
  const auto number = [](const char* name, int& value, double most) {
    return BlockKey{.name = name, .member = &value, .most = most, .is_set = value >= 0};
  };
  return {{"name", &schedule.name},
          {"time_zone", &schedule.time_zone},
          {"start", &schedule.start},
          {"end", &schedule.end},
          number("min_running_gpu", schedule.min_running_gpu, k_most_slots),
          number("free_running_gpu", schedule.free_running_gpu, k_most_slots),
          number("max_gpus", schedule.max_gpus, k_most_gpus),
          {.name = "policy",
           .member = &schedule.policy,
           .choices = {"static", "adaptive"},
           .is_set = !schedule.policy.empty()}};
}

std::vector<BlockKey> block_keys(MaintenanceConfig& maintenance) {
  return {{"name", &maintenance.name},
          {"time_zone", &maintenance.time_zone},
          {"start", &maintenance.start},
          {"end", &maintenance.end},
          {"drain_ahead_min", &maintenance.drain_ahead_min, 0, k_day_min},
          {.name = "providers",
           .member = &maintenance.providers,
           .choices = {"local", "external", "runpod", "kubernetes"}},
          {"hosts", &maintenance.hosts}};
}

std::string block_title(const TenantConfig&) { return "tenant"; }
std::string block_title(const ScheduleConfig&) { return "pool.schedule"; }
std::string block_title(const MaintenanceConfig&) { return "pool.maintenance"; }

std::optional<std::string> block_fault(const TenantConfig&) { return std::nullopt; }

std::optional<std::string> block_fault(const ScheduleConfig& schedule) {
  const bool changes = schedule.min_running_gpu >= 0 || schedule.free_running_gpu >= 0 ||
                       schedule.max_gpus >= 0 || !schedule.policy.empty();
  if (!changes) {
    return "changes nothing: set min_running_gpu, free_running_gpu, max_gpus or policy";
  }
  return window_fault(schedule);
}

std::optional<std::string> block_fault(const MaintenanceConfig& maintenance) {
  const bool local =
      maintenance.providers.empty() || maintenance.providers == std::vector<std::string>{"local"};
  if (!maintenance.hosts.empty() && !local) {
    return "hosts have local GPUs only: leave out providers";
  }
  return window_fault(maintenance);
}

}  // namespace navtalk
